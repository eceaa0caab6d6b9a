//! Pages of the kernel's ring buffer as `trace_pipe_raw` gives them, of 64-bit kernels.
//!
//! ```text
//! ┌──────┬──────────────────┬──────────────────────┬─────────┐
//! │ time │ size, and whether │ type:5, time since:27 │ payload │ …
//! └──────┴──────────────────┴──────────────────────┴─────────┘
//! ```
//! The layout is that of `events/header_page` and `events/header_event`.

use super::super::block::{u32_at, u64_at};

const HEADER: usize = 16;
/// Events were lost before this page.
const MISSED: u32 = 3 << 30;
const PADDING: u32 = 29;
const EXTENDED: u32 = 30;
const STAMP: u32 = 31;
const DELTA_BITS: u32 = 27;

/// Gives `each` time (ns) and payload of all events of a page. Whether some before it were lost.
pub fn read_page(page: &[u8], mut each: impl FnMut(u64, &[u8])) -> bool {
    if page.len() < HEADER {
        return false;
    }
    let (mut time, commit) = (u64_at(page, 0), u32_at(page, 8));
    let size = ((commit & !MISSED) as usize).min(page.len() - HEADER);
    let mut rest = &page[HEADER..HEADER + size];
    while rest.len() >= 4 {
        let head = u32_at(rest, 0);
        let (kind, delta) = (head & 31, u64::from(head >> 5));
        let word = || (rest.len() >= 8).then(|| u32_at(rest, 4));
        let (begin, end) = match kind {
            PADDING if delta == 0 => break,
            // the first word of the payload says how long it is, itself included
            0 | PADDING => match word() {
                Some(length) if length >= 4 => (8, 4 + length as usize),
                _ => break,
            },
            EXTENDED | STAMP => {
                let Some(high) = word() else { break };
                let whole = (u64::from(high) << DELTA_BITS) + delta;
                time = if kind == STAMP { whole } else { time.wrapping_add(whole) };
                rest = &rest[8..];
                continue;
            }
            words => (4, 4 + 4 * words as usize),
        };
        let Some(payload) = rest.get(begin..end) else { break };
        time = time.wrapping_add(delta);
        if kind != PADDING {
            each(time, payload);
        }
        rest = rest.get(end.next_multiple_of(4)..).unwrap_or_default();
    }
    commit & MISSED != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(time: u64, flags: u32, words: &[u32]) -> Vec<u8> {
        let mut page = time.to_le_bytes().to_vec();
        page.extend_from_slice(&u64::from(flags | (words.len() as u32 * 4)).to_le_bytes());
        page.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        page.resize(4096, 0);
        page
    }

    fn events(page: &[u8]) -> (Vec<(u64, Vec<u8>)>, bool) {
        let mut found = Vec::new();
        let lost = read_page(page, |time, payload| found.push((time, payload.to_vec())));
        (found, lost)
    }

    fn head(kind: u32, delta: u32) -> u32 {
        kind | delta << 5
    }

    #[test]
    fn events_have_the_times_of_their_page_and_what_has_passed_since() {
        let words: Vec<u32> = [
            vec![head(1, 0), 7],
            vec![head(PADDING, 9), 8, 0], // thrown away
            vec![head(2, 5), 8, 9],
            vec![head(EXTENDED, 3), 1], // 2^27 + 3 later
            vec![head(0, 1), 12, 4, 5], // a long one
            vec![head(STAMP, 50), 2],
            vec![head(1, 1), 6],
            vec![head(PADDING, 0)],
        ]
        .concat();
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let late = 1014 + (1 << 27) + 4;
        let expected: Vec<(u64, Vec<u8>)> = vec![
            (1000, bytes(&[7])),
            (1014, bytes(&[8, 9])),
            (late, bytes(&[4, 5])),
            ((2 << 27) + 51, bytes(&[6])),
        ];
        assert_eq!(events(&page(1000, 0, &words)), (expected.clone(), false));
        assert_eq!(events(&page(1000, 1 << 31, &words)), (expected, true));
    }

    #[test]
    fn a_torn_event_ends_the_page() {
        assert_eq!(events(&[0; 3]), (vec![], false));
        assert_eq!(events(&page(1, 0, &[])), (vec![], false));
        assert_eq!(events(&page(1, 0, &[head(9, 1), 1])), (vec![], false));
        assert_eq!(events(&page(1, 0, &[head(0, 1)])), (vec![], false));
        assert_eq!(events(&page(1, 0, &[head(0, 1), 3])), (vec![], false));
    }

    proptest! {
        #[test]
        fn any_page_is_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
            read_page(&bytes, |_, payload| assert!(payload.len() <= bytes.len()));
        }
    }
}
