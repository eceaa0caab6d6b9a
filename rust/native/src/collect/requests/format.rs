//! Where the fields of an event lie: `events/…/format`.

/// Offset and size in an event, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    /// A number of up to 8 bytes; `None` of an event that is too short.
    pub fn number(self, data: &[u8]) -> Option<u64> {
        let bytes = self.bytes(data)?;
        let mut whole = [0; 8];
        whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(whole))
    }

    pub fn bytes(self, data: &[u8]) -> Option<&[u8]> {
        data.get(self.offset..self.offset + self.size)
    }
}

/// An event of requests: which it is, and where it says what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub id: u64,
    pub kind: Field,
    /// Of the thread in which it happened.
    pub tid: Field,
    pub device: Field,
    pub sector: Field,
    /// How many there are.
    pub sectors: Field,
    /// What the request does, as letters.
    pub letters: Field,
}

impl Layout {
    /// Of the text of `format`; `None` where that lacks something.
    pub fn parse(text: &str) -> Option<Layout> {
        let format = Format(text);
        Some(Layout {
            id: format.id()?,
            kind: format.field("common_type")?,
            tid: format.field("common_pid")?,
            device: format.field("dev")?,
            sector: format.field("sector")?,
            sectors: format.field("nr_sector")?,
            letters: format.field("rwbs")?,
        })
    }
}

/// The event of a thread or process that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpawnLayout {
    pub id: u64,
    pub creator: Field,
    pub tid: Field,
    pub flags: Field,
}

impl SpawnLayout {
    /// Likewise.
    pub fn parse(text: &str) -> Option<SpawnLayout> {
        let format = Format(text);
        Some(SpawnLayout {
            id: format.id()?,
            creator: format.field("common_pid")?,
            tid: format.field("pid")?,
            flags: format.field("clone_flags")?,
        })
    }
}

struct Format<'a>(&'a str);

impl Format<'_> {
    fn id(&self) -> Option<u64> {
        self.0.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()
    }

    fn field(&self, name: &str) -> Option<Field> {
        self.0.lines().find_map(|line| parsed(line, name))
    }
}

/// `\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;`, if it is of that name.
fn parsed(line: &str, name: &str) -> Option<Field> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    if declared.rsplit(' ').next()?.split('[').next()? != name {
        return None;
    }
    let mut number = |key| parts.next()?.strip_prefix(key)?.parse::<u16>().ok();
    let (offset, size) = (number("offset:")?, number("size:")?);
    Some(Field { offset: usize::from(offset), size: usize::from(size) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
name: block_rq_complete
ID: 1234
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:1;

print fmt: \"%d,%d\", 1, 2
";

    #[test]
    fn fields_are_found_by_name() {
        let layout = Layout::parse(TEXT).unwrap();
        assert_eq!(layout.id, 1234);
        let mut data = vec![0; 44];
        data[8..12].copy_from_slice(&0x0070_0003_u32.to_le_bytes());
        data[16..24].copy_from_slice(&77_u64.to_le_bytes());
        data[34..37].copy_from_slice(b"WS\0");
        assert_eq!(layout.device.number(&data), Some(0x0070_0003));
        assert_eq!(layout.sector.number(&data), Some(77));
        assert_eq!(layout.letters.bytes(&data).map(|text| &text[..3]), Some(b"WS\0".as_slice()));
        assert_eq!(layout.sector.number(&data[..20]), None);
        assert_eq!(layout.letters.number(&data), None); // too long for one
    }

    #[test]
    fn what_lacks_something_is_none() {
        let lacking = ["ID: 1234", "dev_t dev", "offset:16", "size:10", "nr_sector"];
        for part in lacking {
            assert_eq!(Layout::parse(&TEXT.replace(part, "")), None, "{part}");
        }
        assert_eq!(Layout::parse(&TEXT.replace("1234", "x")), None);
        assert_eq!(Layout::parse(""), None);
    }
}
