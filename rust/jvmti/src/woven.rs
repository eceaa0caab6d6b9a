/*!
What the weaver made of a class, as it crosses from Java and as the cache keeps it:

```text
u16 n | n × u16 ids of points that were found | u16 m | m × u16 ids of missing points | class file
```

All numbers are big-endian, as in a class file, which is empty where no point was found: the class
stays as it is.
*/

/// A class file begins so.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xba, 0xbe];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WovenClass<'a> {
    /// The two lists of points, for the agent to report.
    pub points: &'a [u8],
    pub class_file: &'a [u8],
    /// How many points were found.
    pub found: u16,
}

impl WovenClass<'_> {
    /// `None` unless `bytes` name each point of the class once and hold a class file if one was
    /// found.
    ///
    /// `points`: ids of the class, ascending.
    #[must_use]
    pub fn parse<'a>(bytes: &'a [u8], points: &[u16]) -> Option<WovenClass<'a>> {
        let mut rest = bytes;
        let found = ids(&mut rest)?;
        let mut all = ids(&mut rest)?;
        all.extend(&found);
        all.sort_unstable();
        let whole = if found.is_empty() { rest.is_empty() } else { rest.starts_with(&MAGIC) };
        let head = bytes.len() - rest.len();
        (all == points && whole).then_some(WovenClass {
            points: &bytes[..head],
            class_file: rest,
            found: found.len() as u16,
        })
    }
}

fn ids(rest: &mut &[u8]) -> Option<Vec<u16>> {
    let size = usize::from(number(rest)?);
    (0..size).map(|_| number(rest)).collect()
}

fn number(rest: &mut &[u8]) -> Option<u16> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u16::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: &[u8] = &[0, 1, 0, 7, 0, 1, 1, 0, 0xca, 0xfe, 0xba, 0xbe, 0];

    #[test]
    fn points_and_class_file_are_told_apart() {
        let woven = WovenClass::parse(BOTH, &[7, 256]).unwrap();
        assert_eq!((woven.points, woven.class_file), (&BOTH[..8], &BOTH[8..]));
        let untouched = [0, 0, 0, 2, 0, 7, 1, 0];
        assert_eq!(WovenClass::parse(&untouched, &[7, 256]).unwrap().class_file, b"");
    }

    #[test]
    fn what_does_not_fit_the_class_is_refused() {
        assert_eq!(WovenClass::parse(BOTH, &[7]), None, "a foreign point");
        assert_eq!(WovenClass::parse(BOTH, &[7, 8, 256]), None, "a point too few");
        assert_eq!(WovenClass::parse(&BOTH[..10], &[7, 256]), None, "no class file");
        assert_eq!(WovenClass::parse(&[0, 0, 0, 1, 0, 7, 1], &[7]), None, "bytes of nothing");
        assert_eq!(WovenClass::parse(&[], &[]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, points in prop::collection::vec(0u16..4, 0..4)) {
            if let Some(woven) = WovenClass::parse(&bytes, &points) {
                prop_assert_eq!([woven.points, woven.class_file].concat(), bytes.clone());
                prop_assert_eq!(woven.points.len(), 4 + 2 * points.len());
            }
        }
    }
}
