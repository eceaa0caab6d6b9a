//! Writes a table of the store column by column, without an embedded Arrow schema: every engine
//! reads it.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use iostrata_segment::schema::VERSION;
use parquet::basic::{
    Compression, ConvertedType, Encoding, Repetition, Type as Physical, ZstdLevel,
};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

/// A column whose rows may be null: the values that are not, and 1 or 0 for each row.
pub struct NullableColumn<T> {
    values: Vec<T>,
    present: Vec<i16>,
}

#[cfg(test)]
impl<T> NullableColumn<T> {
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T> FromIterator<Option<T>> for NullableColumn<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(cells: I) -> Self {
        let cells = cells.into_iter();
        let (rows, _) = cells.size_hint();
        let (values, present) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut column = NullableColumn { values, present };
        for cell in cells {
            column.present.push(i16::from(cell.is_some()));
            column.values.extend(cell);
        }
        column
    }
}

pub enum Column {
    Text(NullableColumn<ByteArray>),
    Long(NullableColumn<i64>),
    Int(NullableColumn<i32>),
    Bool(NullableColumn<bool>),
    Double(NullableColumn<f64>),
}

/// Times, offsets and ids grow along a thread; other numbers share their high bytes. What is not
/// here repeats, and gets a dictionary.
const DELTA: [&str; 3] = ["start", "offset", "span"];
const SPLIT: [&str; 11] = [
    "dur",
    "bytes",
    "asked",
    "count",
    "parent",
    "timed",
    "timed_dur",
    "weight",
    "inside",
    "min",
    "max",
];

/// Under it the footer says which version of the schema the file is of.
const VERSION_KEY: &str = "iostrata.schema";
/// Rows whose cells are made at a time: few enough to stay in the processor's cache.
const BATCH: usize = 8192;

/// Writes `columns` (name, type of `events.toml`) of one row group of `rows` rows; `cells` gives
/// those of a column for a range of rows.
pub fn write<W: Write + Send>(
    out: W,
    columns: &[(&str, &str)],
    rows: usize,
    mut cells: impl FnMut(&str, Range<usize>) -> Column,
) -> Result<()> {
    let mut file = SerializedFileWriter::new(out, schema(columns)?, properties()?)?;
    let mut group = file.next_row_group()?;
    for (name, _) in columns {
        let next = group.next_column()?;
        let mut column = next.ok_or_else(|| ParquetError::General("a column too many".into()))?;
        for begin in (0..rows).step_by(BATCH) {
            match cells(name, begin..rows.min(begin + BATCH)) {
                Column::Text(cells) => append::<ByteArrayType>(&mut column, &cells)?,
                Column::Long(cells) => append::<Int64Type>(&mut column, &cells)?,
                Column::Int(cells) => append::<Int32Type>(&mut column, &cells)?,
                Column::Bool(cells) => append::<BoolType>(&mut column, &cells)?,
                Column::Double(cells) => append::<DoubleType>(&mut column, &cells)?,
            }
        }
        column.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

fn append<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: &NullableColumn<T::T>,
) -> Result<()> {
    column.typed::<T>().write_batch(&cells.values, Some(&cells.present), None)?;
    Ok(())
}

fn schema(columns: &[(&str, &str)]) -> Result<TypePtr> {
    let fields = columns.iter().map(|(name, kind)| {
        let (physical, converted) = match *kind {
            "string" => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            "i64" => (Physical::INT64, ConvertedType::NONE),
            "i32" => (Physical::INT32, ConvertedType::NONE),
            "bool" => (Physical::BOOLEAN, ConvertedType::NONE),
            "f64" => (Physical::DOUBLE, ConvertedType::NONE),
            other => return Err(ParquetError::General(format!("column {name}: type {other}"))),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted);
        Ok(Arc::new(field.build()?))
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("iostrata").with_fields(fields).build()?))
}

fn properties() -> Result<WriterPropertiesPtr> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_column_statistics_enabled(ColumnPath::from("start"), EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_page_size_limit(4 << 20)
        .set_created_by(format!("iostrata {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new(VERSION_KEY.into(), VERSION.to_string())]));
    for (names, encoding) in
        [(&DELTA[..], Encoding::DELTA_BINARY_PACKED), (&SPLIT[..], Encoding::BYTE_STREAM_SPLIT)]
    {
        for name in names {
            properties = properties
                .set_column_dictionary_enabled(ColumnPath::from(*name), false)
                .set_column_encoding(ColumnPath::from(*name), encoding);
        }
    }
    Ok(Arc::new(properties.build()))
}
