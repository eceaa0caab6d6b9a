//! `devices/host=…/part-NNNNNN.parquet`: what block devices did while a run recorded.

use std::collections::HashSet;
use std::io::Write;

use iostrata_segment::schema::DEVICE_COLUMNS;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use super::processes;
use super::table::{self, Column};
use crate::devices::BlockDevice;
use crate::model::run::Run;
use crate::model::state::State;

/// What a device did in an interval.
#[derive(Debug, PartialEq, Eq)]
pub struct DeviceRow<'a> {
    /// `CLOCK_MONOTONIC` ns of the interval's begin.
    time: u64,
    interval: u64,
    device: &'a BlockDevice,
}

/// `host`: of the collector; `anchor` is added to monotonic times.
pub fn write<W: Write + Send>(
    out: W,
    host: &str,
    anchor: i64,
    rows: &[DeviceRow<'_>],
) -> Result<()> {
    table::write(out, DEVICE_COLUMNS, rows.len(), |name, range| {
        column(name, host, anchor, &rows[range])
    })
}

fn column(name: &str, host: &str, anchor: i64, rows: &[DeviceRow<'_>]) -> Column {
    let text = |cell: &dyn Fn(&BlockDevice) -> &str| {
        Column::Text(rows.iter().map(|row| Some(ByteArray::from(cell(row.device)))).collect())
    };
    let long = |cell: &dyn Fn(&DeviceRow<'_>) -> u64| {
        let signed = |row: &DeviceRow<'_>| i64::try_from(cell(row)).unwrap_or(i64::MAX);
        Column::Long(rows.iter().map(|row| Some(signed(row))).collect())
    };
    match name {
        "host" => {
            let cells =
                rows.iter().map(|row| ByteArray::from(row.device.host.as_deref().unwrap_or(host)));
            Column::Text(cells.map(Some).collect())
        }
        "device" => text(&|device| &device.name),
        "mount" => text(&|device| &device.mount),
        "time" => long(&|row| (row.time as i64).wrapping_add(anchor) as u64),
        "interval" => long(&|row| row.interval),
        "reads" => long(&|row| row.device.reads),
        "writes" => long(&|row| row.device.writes),
        "read" => long(&|row| row.device.read),
        "written" => long(&|row| row.device.written),
        "busy" => long(&|row| row.device.busy),
        "waited" => long(&|row| row.device.waited),
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

/// Of the devices that this host and those of the run's processes have mounted, from its begin to
/// its end.
pub fn of_run<'a>(state: &'a State, run: &Run) -> Vec<DeviceRow<'a>> {
    let of_run =
        state.processes.values().filter(|process| processes::is_of_run(state, process, run));
    let hosts: HashSet<&str> = of_run.filter_map(|process| process.info.host.as_deref()).collect();
    let is_seen =
        |device: &&BlockDevice| device.host.as_deref().is_none_or(|host| hosts.contains(host));
    let samples = state.host.of_run(run).into_iter();
    samples
        .flat_map(|sample| {
            let (time, interval) = (sample.time, sample.interval);
            let rows = sample.devices.iter().filter(is_seen);
            rows.map(move |device| DeviceRow { time, interval, device })
        })
        .collect()
}
