//! Columns of a batch, whatever engine made it: texts as numbers of names, integers with nulls.

use anyhow::{Result, anyhow, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;

use super::hash::{self, Map};

/// Texts that occur, numbered from 1; 0 is none.
#[derive(Default)]
pub struct TextTable {
    texts: Vec<String>,
    /// By hash; texts of equal hash are one after the other in a list that is nearly always short.
    known: Map<u64, Vec<u32>>,
}

impl TextTable {
    pub fn number(&mut self, text: &str) -> u32 {
        let same_hash = self.known.entry(hash::text(text)).or_default();
        let known = same_hash.iter().find(|number| self.texts[**number as usize - 1] == text);
        if let Some(number) = known {
            return *number;
        }
        self.texts.push(text.to_owned());
        same_hash.push(self.texts.len() as u32);
        self.texts.len() as u32
    }

    /// Empty for 0.
    pub fn text(&self, number: u32) -> &str {
        number.checked_sub(1).map_or("", |place| &self.texts[place as usize])
    }
}

/// The numbers of a column's texts.
pub fn texts(batch: &RecordBatch, name: &str, names: &mut TextTable) -> Result<Vec<u32>> {
    let array = column(batch, name)?;
    if let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() {
        let numbers = numbered(dictionary.values(), names).ok_or_else(|| no_text(name, array))?;
        let keys = dictionary.keys();
        let known = |key: i32| numbers.get(key as usize).copied().unwrap_or(0);
        return Ok(keys.iter().map(|key| key.map_or(0, known)).collect());
    }
    numbered(array, names).ok_or_else(|| no_text(name, array))
}

fn numbered(array: &ArrayRef, names: &mut TextTable) -> Option<Vec<u32>> {
    if let Some(texts) = array.as_string_opt::<i32>() {
        return Some(each(texts.iter(), names));
    }
    if let Some(texts) = array.as_string_opt::<i64>() {
        return Some(each(texts.iter(), names));
    }
    Some(each(array.as_string_view_opt()?.iter(), names))
}

/// Neighbours are mostly alike.
fn each<'a>(texts: impl Iterator<Item = Option<&'a str>>, names: &mut TextTable) -> Vec<u32> {
    let (mut last, mut number) = (None, 0);
    let numbers = texts.map(|text| {
        if text != last {
            (last, number) = (text, text.map_or(0, |text| names.number(text)));
        }
        number
    });
    numbers.collect()
}

fn no_text(name: &str, array: &ArrayRef) -> anyhow::Error {
    anyhow!("its column {name} is of type {}, not text", array.data_type())
}

/// Whether rows have a value.
pub struct Presence(Option<NullBuffer>);

impl Presence {
    pub fn get(&self, row: usize) -> bool {
        self.0.as_ref().is_none_or(|nulls| nulls.is_valid(row))
    }
}

pub fn present(batch: &RecordBatch, name: &str) -> Result<Presence> {
    Ok(Presence(column(batch, name)?.logical_nulls()))
}

/// Integers or floats, some of them null.
pub struct Numbers<'a, T: ArrowPrimitiveType> {
    values: &'a [T::Native],
    nulls: Option<&'a NullBuffer>,
}

impl<T: ArrowPrimitiveType> Numbers<'_, T> {
    pub fn get(&self, row: usize) -> Option<T::Native> {
        self.nulls.is_none_or(|nulls| nulls.is_valid(row)).then(|| self.values[row])
    }
}

pub fn numbers<'a, T: ArrowPrimitiveType>(
    batch: &'a RecordBatch,
    name: &str,
) -> Result<Numbers<'a, T>> {
    let array = column(batch, name)?;
    let Some(numbers) = array.as_primitive_opt::<T>() else {
        bail!("its column {name} is of type {}, not {}", array.data_type(), T::DATA_TYPE);
    };
    Ok(Numbers { values: numbers.values(), nulls: numbers.nulls() })
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let column = batch.column_by_name(name);
    column.ok_or_else(|| {
        anyhow!("it lacks the column {name}: read it with the iostrata that wrote it")
    })
}
