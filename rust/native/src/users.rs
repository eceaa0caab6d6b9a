//! Names and groups of users, from `/etc/passwd` alone: a small binary loads no name services.

use std::fs;

struct User {
    name: String,
    uid: u32,
    gid: u32,
}

fn users() -> Vec<User> {
    let table = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let parse = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        let uid = fields.nth(1)?.parse().ok()?;
        Some(User { name, uid, gid: fields.next()?.parse().ok()? })
    };
    table.lines().filter_map(parse).collect()
}

/// The user's name, or the number where there is none.
pub fn name_of(uid: u32) -> String {
    let user = users().into_iter().find(|user| user.uid == uid);
    user.map_or_else(|| uid.to_string(), |user| user.name)
}

/// None where there is no such user.
pub fn uid_of(name: &str) -> Option<u32> {
    users().into_iter().find(|user| user.name == name).map(|user| user.uid)
}

/// The user's first group; one of the same number where the user is not listed.
pub fn group_of(uid: u32) -> u32 {
    users().into_iter().find(|user| user.uid == uid).map_or(uid, |user| user.gid)
}
