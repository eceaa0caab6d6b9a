//! `system/host=…/part-NNNNNN.parquet`: what the whole host did while a run recorded.

use std::io::Write;

use iostrata_segment::schema::SYSTEM_COLUMNS;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use super::table::{self, Column};
use crate::model::sample::HostSample;

/// `anchor` is added to monotonic times.
pub fn write<W: Write + Send>(
    out: W,
    host: &str,
    anchor: i64,
    samples: &[&HostSample],
) -> Result<()> {
    table::write(out, SYSTEM_COLUMNS, samples.len(), |name, range| {
        column(name, host, anchor, &samples[range])
    })
}

fn column(name: &str, host: &str, anchor: i64, samples: &[&HostSample]) -> Column {
    let known = |cell: &dyn Fn(&HostSample) -> Option<u64>| {
        let cells = samples.iter().map(|sample| cell(sample));
        let signed = |cell| i64::try_from(cell).unwrap_or(i64::MAX);
        Column::Long(cells.map(|cell| cell.map(signed)).collect())
    };
    let long = |cell: &dyn Fn(&HostSample) -> u64| known(&|sample| Some(cell(sample)));
    match name {
        "host" => Column::Text(samples.iter().map(|_| Some(ByteArray::from(host))).collect()),
        "time" => long(&|sample| (sample.time as i64).wrapping_add(anchor) as u64),
        "interval" => long(&|sample| sample.interval),
        "cores" => Column::Int(samples.iter().map(|sample| Some(sample.cores as i32)).collect()),
        "cpu_user" => long(&|sample| sample.cpu_user),
        "cpu_system" => long(&|sample| sample.cpu_system),
        "cpu_iowait" => long(&|sample| sample.cpu_iowait),
        "cpu_idle" => long(&|sample| sample.cpu_idle),
        "mem_used" => long(&|sample| sample.memory.used),
        "mem_total" => long(&|sample| sample.memory.total),
        "disk_read" => long(&|sample| sample.disk_read),
        "disk_written" => long(&|sample| sample.disk_written),
        "disk_busy" => long(&|sample| sample.disk_busy),
        "net_received" => long(&|sample| sample.net_received),
        "net_sent" => long(&|sample| sample.net_sent),
        "net_loopback" => long(&|sample| sample.net_loopback),
        "space_used" => long(&|sample| sample.space.used),
        "space_total" => long(&|sample| sample.space.total),
        "cpu_pressure" => known(&|sample| sample.pressure.cpu),
        "memory_pressure" => known(&|sample| sample.pressure.memory),
        "io_pressure" => known(&|sample| sample.pressure.io),
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Cpu, DeviceCounters, Reading};
    use proptest::prelude::*;

    fn reading(now: u64, value: u64) -> Reading {
        let flow = |name: &str| DeviceCounters {
            name: name.into(),
            incoming: value,
            outgoing: value,
            busy: value,
        };
        Reading {
            now,
            cpu: Cpu { cores: 1, user: value, system: value, iowait: value, idle: value },
            disks: vec![flow("sda"), flow("sdb")],
            interfaces: vec![flow("lo"), flow("e")],
            ..Reading::default()
        }
    }

    proptest! {
        #[test]
        fn nothing_is_ever_negative(from: u64, to: u64, end in 2u64..) {
            let sample = HostSample::between(&reading(1, from), &reading(end, to)).unwrap();
            for (name, _) in SYSTEM_COLUMNS.iter().filter(|(name, kind)| *kind == "i64" && *name != "time") {
                let Column::Long(cells) = column(name, "h", 0, &[&sample]) else { panic!("{name}") };
                prop_assert!(cells.values().iter().all(|cell| *cell >= 0), "{name}");
            }
        }
    }
}
