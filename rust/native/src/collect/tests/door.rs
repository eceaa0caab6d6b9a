//! Packets at the door, and files of orders.

use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use iostrata_segment::door::{address, packets};
use iostrata_segment::scratch::ScratchDir;
use proptest::prelude::*;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, connect, recv, send};

use super::fuzz::{TestCaseResult, fuzz, number_at_a_bound};
use crate::collect::door::Door;
use crate::collect::floor::Floor;
use crate::collect::orders::{self, Orders};
use crate::collect::started::Started;
use crate::model::ids;
use crate::store::directory::StoreDirectory;

/// A line of an order, or nearly one.
fn line() -> impl Strategy<Value = String> {
    let key = "(recorder_pid|recorder_start|expect|points_off|level|sampling|budget|[a-z]{0,9})";
    let value = prop_oneof![
        4 => number_at_a_bound().prop_map(|number| number.to_string()),
        2 => "(record|thread|phase|task|job)",
        2 => "[A-Za-z]{0,9}:-?[0-9]{0,12}",
        1 => "\\PC{0,30}",
    ];
    (key, "=?", value).prop_map(|(key, is, value)| format!("{key}{is}{value}\n"))
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let lines = prop::collection::vec(line(), 0..12);
    let points = prop_oneof![3 => Just(String::new()), 1 => "\npoints:\n\\PC{0,200}"];
    let text =
        (lines, points, 1usize..400, any::<bool>()).prop_map(|(lines, points, times, often)| {
            let text = lines.concat() + &points;
            text.repeat(if often { times } else { 1 }).into_bytes()
        });
    prop_oneof![6 => text, 1 => prop::collection::vec(any::<u8>(), 0..500)]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "r[0-3]",
        2 => "[A-Za-z0-9._/-]{0,70}",
        1 => "\\PC{0,70}",
        1 => (0usize..100_000).prop_map(|size| "\u{1}".repeat(size)),
    ]
}

fn packet() -> impl Strategy<Value = Vec<u8>> {
    let verb = prop_oneof![6 => "(hello|record|stop|withdraw)", 1 => name()];
    (verb, " ?", name(), "\n?", body()).prop_map(|(verb, space, name, end, body)| {
        let mut packet = format!("{verb}{space}{name}{end}").into_bytes();
        packet.extend_from_slice(&body);
        packet
    })
}

fn handle(path: &Path) -> OwnedFd {
    File::open(path).unwrap().into()
}

/// A folder with a door, whose thread ends with the process.
fn door(folder: &ScratchDir) {
    let [runs, store] = ["runs", "store"].map(|name| folder.path().join(name));
    fs::create_dir(&runs).unwrap();
    let store = StoreDirectory::root(&store, 0o711).unwrap();
    let (started, floor) = (Started::default(), Floor(0.0));
    Door::open(handle(folder.path()), handle(&runs), store, started, floor).unwrap();
}

fn asked(directory: &OwnedFd, packet: &[u8]) -> Option<String> {
    let socket = packets().unwrap();
    set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(30))).unwrap();
    connect(&socket, &address(directory.as_fd()).unwrap()).unwrap();
    send(&socket, packet, SendFlags::NOSIGNAL).ok()?; // more than a socket takes
    let mut answer = [0; 8192];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty()).unwrap();
    Some(String::from_utf8(answer[..length].to_vec()).unwrap())
}

/// An answer is one short line, and each order that was taken can be read.
fn is_right(answer: &str, runs: &OwnedFd) -> TestCaseResult {
    prop_assert!(answer.starts_with("ok") || answer.starts_with("no "), "{answer:?}");
    prop_assert!(!answer.contains('\n') && answer.len() <= 300, "{answer:?}");
    let (names, _) = Orders::new(false).look(runs.as_fd(), 1 << 60).unwrap();
    for name in names {
        prop_assert!(ids::is_run_name(&name), "{name:?}");
        let order = orders::read(runs.as_fd(), &name, 1);
        prop_assert!(order.is_ok(), "{name}: {order:?}");
        if name != "r0" {
            orders::remove(runs, &name, &["run", "stop", "points"]);
        }
    }
    Ok(())
}

#[test]
fn fuzz_door() {
    let folder = ScratchDir::new();
    door(&folder);
    let (directory, runs) = (handle(folder.path()), handle(&folder.path().join("runs")));
    let file = folder.path().join("runs/file.run");
    fuzz((packet(), body()), |(packet, body)| {
        if let Some(answer) = asked(&directory, &packet) {
            is_right(&answer, &runs)?;
        }
        fs::write(&file, body).unwrap();
        if let Err(why) = orders::read(runs.as_fd(), "file", 1) {
            prop_assert!(!why.contains('\n'), "{why:?}");
        }
        fs::remove_file(&file).unwrap();
        Ok(())
    });
}

#[test]
fn the_door_says_ok_to_what_is_right_and_one_short_line_to_what_is_not() {
    let folder = ScratchDir::new();
    door(&folder);
    let directory = handle(folder.path());
    let say = |packet: &str| asked(&directory, packet.as_bytes()).unwrap();
    assert_eq!(say("record r\nlevel=record\nbudget=9\n"), "ok");
    assert_eq!(say("stop r\n"), "ok");
    let lines = "expect=map:1\n".repeat(10_000);
    assert_eq!(say(&format!("record s\n{lines}")), "no an order has at most 65536 bytes");
    let loud = say(&format!("{} r\n", "\u{1}".repeat(100_000)));
    assert_eq!(loud, format!("no nothing is known of {:?}", "\u{1}".repeat(20)));
}
