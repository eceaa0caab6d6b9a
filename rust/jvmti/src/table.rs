//! The classes that have points, by name.

use iostrata_segment::points::{POINTS, Point};
use iostrata_segment::schema::{LAYER_RECORD, layer_name};

/// A class and the points woven into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// As in a class file: `java/io/File`.
    pub name: String,
    /// Ascending ids.
    pub points: Vec<u16>,
}

/// The points that a process is woven with.
#[derive(Debug)]
pub struct Table {
    /// By name, so that looking one up takes seven comparisons.
    classes: Vec<Class>,
}

impl Table {
    /// `records`: with those that count records, which a job pays for only where it is asked for
    /// them.
    #[must_use]
    pub fn built_in(records: bool) -> Table {
        Table::of(POINTS.iter().filter(|point| records || !counts_records(point)))
    }

    fn of<'a>(points: impl Iterator<Item = &'a Point>) -> Table {
        let mut classes: Vec<Class> = Vec::new();
        let mut rows: Vec<(String, u16)> = points
            .filter(|point| point.woven)
            .map(|point| (point.class.replace('.', "/"), point.id))
            .collect();
        rows.sort_unstable();
        for (name, id) in rows {
            match classes.last_mut().filter(|class| class.name == name) {
                Some(class) => class.points.push(id),
                None => classes.push(Class { name, points: vec![id] }),
            }
        }
        Table { classes }
    }

    /// The class of this name, which need not be UTF-8.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<&Class> {
        let place = self.classes.binary_search_by(|class| class.name.as_bytes().cmp(name));
        place.ok().map(|place| &self.classes[place])
    }

    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }
}

/// A point that counts each record of a job; woven at the level `record` only.
fn counts_records(point: &Point) -> bool {
    point.counted_only && point.layer == layer_name(LAYER_RECORD).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_woven_point_is_found_by_its_class() {
        let table = Table::built_in(true);
        for point in POINTS.iter().filter(|point| point.woven) {
            let name = point.class.replace('.', "/");
            assert!(table.find(name.as_bytes()).unwrap().points.contains(&point.id), "{name}");
        }
        let sum: usize = table.classes().iter().map(|class| class.points.len()).sum();
        assert_eq!(sum, POINTS.iter().filter(|point| point.woven).count());
    }

    #[test]
    fn points_that_count_records_are_in_one_table_only() {
        let (with, without) = (Table::built_in(true), Table::built_in(false));
        let points =
            |table: &Table, name: &[u8]| table.find(name).map(|class| class.points.clone());
        let buffer = b"org/apache/hadoop/mapred/MapTask$MapOutputBuffer";
        assert_eq!(points(&with, buffer), Some(vec![204, 222, 223, 224, 225, 226]));
        assert_eq!(points(&without, buffer), Some(vec![222, 223, 224, 225, 226]));
        let reader = b"org/apache/hadoop/mapred/MapTask$NewTrackingRecordReader";
        assert_eq!(points(&with, reader), Some(vec![200]));
        assert_eq!(points(&without, reader), None);
    }

    #[test]
    fn other_names_are_not() {
        let table = Table::built_in(true);
        for name in ["", "java/io/Fil", "java/io/FileInputStream2", "java.io.FileInputStream"] {
            assert_eq!(table.find(name.as_bytes()), None, "{name}");
        }
        assert_eq!(table.find(&[0xff, 0xfe]), None);
    }
}
