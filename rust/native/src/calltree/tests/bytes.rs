use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;

use super::made::{batch, call, sum};
use crate::calltree::source::{arrow, parquet, whole};
use crate::calltree::spans::Spans;
use crate::calltree::tables::{Grouping, Tables};

fn parquet_bytes() -> Vec<u8> {
    let rows = batch(&[call("read", 1, 0, 5, 9), call("write", 2, 1, 6, 1), sum("read", 4, 1)]);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow_bytes() -> Vec<u8> {
    let rows = batch(&[call("read", 1, 0, 5, 9), sum("read", 4, 1)]);
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}

/// How many spans; an error is one line.
fn read(bytes: Vec<u8>, is_parquet: bool) -> Result<usize, String> {
    let (mut spans, mut tables) = (Spans::default(), Tables::new(Grouping::Op));
    let mut each = |rows: &_| spans.push(rows, &mut tables, &|_, _| true, None);
    let outcome = whole(|| {
        if is_parquet {
            parquet(Bytes::from(bytes), &mut each)
        } else {
            arrow(&bytes[..], &mut each)
        }
    });
    outcome.map(|()| spans.len()).map_err(|error| format!("{error:#}"))
}

#[test]
fn both_formats_are_read() {
    assert_eq!(read(parquet_bytes(), true), Ok(2));
    assert_eq!(read(arrow_bytes(), false), Ok(1));
}

#[test]
fn a_column_that_is_not_there_or_of_another_type_is_named() {
    let rows = batch(&[call("read", 1, 0, 5, 9)]);
    let error = |rows| {
        let mut spans = Spans::default();
        spans
            .push(&rows, &mut Tables::new(Grouping::Op), &|_, _| true, None)
            .unwrap_err()
            .to_string()
    };
    let (at, _) = rows.schema().column_with_name("span").unwrap();
    let mut without = rows.clone();
    without.remove_column(at);
    let lacks = "it lacks the column span: read it with the iostrata that wrote it";
    assert_eq!(error(without), lacks);
    let mut columns = rows.columns().to_vec();
    let names: Vec<String> = rows.schema().fields().iter().map(|f| f.name().clone()).collect();
    columns[at] = rows.column_by_name("op").unwrap().clone();
    let wrong = arrow_array::RecordBatch::try_from_iter(names.iter().zip(columns)).unwrap();
    assert_eq!(error(wrong), "its column span is of type Utf8, not Int64");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn damaged_bytes_are_an_error_or_rows(
        is_parquet: bool, cut: prop::sample::Index, at: prop::sample::Index, with: [u8; 4],
    ) {
        let mut bytes = if is_parquet { parquet_bytes() } else { arrow_bytes() };
        let from = at.index(bytes.len());
        for (byte, with) in bytes[from..].iter_mut().zip(with) {
            *byte = with;
        }
        if with[0] % 4 == 0 {
            bytes.truncate(cut.index(bytes.len()));
        }
        let outcome = read(bytes, is_parquet);
        prop_assert!(outcome.is_ok() || !outcome.unwrap_err().trim().is_empty());
    }

    #[test]
    fn any_bytes_are_an_error_or_no_rows(bytes: Vec<u8>, is_parquet: bool) {
        prop_assert!(read(bytes, is_parquet).unwrap_or(0) == 0);
    }
}
