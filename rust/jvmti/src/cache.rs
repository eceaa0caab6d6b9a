/*!
Woven classes on disk: a folder of one user and host, a file for each class that was ever met.

A file goes by the hash of the class, of its points and of the agent's jar, which holds point table
and weaver: what another version made is never found. It is believed only if it belongs to this user or root, nobody
else may write to it, and its content has the hash it says. Without a usable folder each process
weaves for itself.
*/

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use iostrata_segment::writer::files::open_folder;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdir, openat, renameat, statat, unlinkat,
};
use rustix::io::{Errno, read, write};

const MAGIC: &[u8; 8] = b"iowoven1";
const HASH: usize = blake3::OUT_LEN;
const HEAD: usize = MAGIC.len() + HASH;
/// No woven class is larger.
const MAX_FILE: u64 = 4 << 20;
/// Bytes of all files; beyond it the oldest go.
const MAX_FOLDER: u64 = 64 << 20;
/// The folder is looked over at the first file that a process writes, and at each so many.
const WRITES_PER_LOOK: u32 = 64;
const OTHERS_MAY_WRITE: u32 = 0o022;

/// Drafts of this process so far: each has a name of its own.
static DRAFTS: AtomicU32 = AtomicU32::new(0);

/// Hash of a class and of what would weave it.
pub type Key = blake3::Hash;

#[derive(Debug)]
pub struct Cache {
    /// Why there is none, where it was looked for first.
    none: Option<String>,
    path: PathBuf,
    /// Hash of the agent's jar.
    agent: [u8; HASH],
    uid: u32,
    limit: u64,
    writes: AtomicU32,
}

impl Cache {
    /// `path`: `None` for the user's own, `/var/tmp/iostrata-UID`, which outlives a restart of the
    /// host, needs no home and is no network's. `jar`: content of the agent's jar.
    #[must_use]
    pub fn open(path: Option<&Path>, jar: &[u8]) -> Cache {
        let uid = rustix::process::geteuid().as_raw();
        let own = || PathBuf::from(format!("/var/tmp/iostrata-{uid}"));
        let path = path.map_or_else(own, Path::to_path_buf);
        Cache {
            none: folder(&path, uid).err(),
            path,
            agent: blake3::hash(jar).into(),
            uid,
            limit: MAX_FOLDER,
            writes: AtomicU32::new(0),
        }
    }

    /// For people: where it is, or why there is none.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.none {
            None => self.path.display().to_string(),
            Some(why) => format!("none: {}: {why}", self.path.display()),
        }
    }

    /// `points`: ids of those that are woven into the class.
    #[must_use]
    pub fn key(&self, points: &[u16], class_file: &[u8]) -> Key {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.agent).update(&(points.len() as u64).to_le_bytes());
        for point in points {
            hasher.update(&point.to_le_bytes());
        }
        hasher.update(class_file).finalize()
    }

    /// Opened each time: see [`open_folder`](iostrata_segment::writer::files::open_folder).
    fn folder(&self) -> Option<OwnedFd> {
        if self.none.is_some() { None } else { folder(&self.path, self.uid).ok() }
    }

    /// What was written under this key; `None` when there is nothing to be believed.
    #[must_use]
    pub fn read(&self, key: &Key) -> Option<Vec<u8>> {
        let folder = self.folder()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(&folder, key.to_hex().as_str(), flags, Mode::empty()).ok()?;
        let stat = fstat(&file).ok()?;
        let size = stat.st_size as u64;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
            || !trusted(&stat, self.uid)
            || size > MAX_FILE
        {
            return None;
        }
        let mut bytes = vec![0; size as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match read(&file, &mut bytes[filled..]) {
                Ok(0) | Err(_) => return None,
                Ok(more) => filled += more,
            }
        }
        content(&bytes, key).map(<[u8]>::to_vec)
    }

    /// Keeps `payload` for the next JVM, or not: a full disk costs speed only.
    pub fn write(&self, key: &Key, payload: &[u8]) {
        let Some(folder) = self.folder() else { return };
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(WRITES_PER_LOOK) {
            let _ = shrink(&folder, self.limit);
        }
        let draft =
            format!(".{}-{}.tmp", std::process::id(), DRAFTS.fetch_add(1, Ordering::Relaxed));
        if publish(&folder, &draft, key, payload).is_err() {
            let _ = unlinkat(&folder, &draft, AtFlags::empty());
        }
    }
}

fn publish(folder: &OwnedFd, draft: &str, key: &Key, payload: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // What died between making and renaming may have had our pid.
    let _ = unlinkat(folder, draft, AtFlags::empty());
    let file = openat(folder, draft, flags, Mode::from_raw_mode(0o600))?;
    let head = [MAGIC, check(key, payload).as_bytes().as_slice()].concat();
    for bytes in [head.as_slice(), payload] {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = &rest[write(&file, rest)?..];
        }
    }
    // Two writers of one key have made the same bytes: either may win.
    renameat(folder, draft, folder, key.to_hex().as_str())
}

fn folder(path: &Path, uid: u32) -> Result<OwnedFd, String> {
    let open = || open_folder(path);
    let folder = match open() {
        Err(Errno::NOENT) => mkdir(path, Mode::from_raw_mode(0o700)).and_then(|()| open()),
        // another process was faster
        other => other,
    };
    let folder = folder.or_else(|why| if why == Errno::EXIST { open() } else { Err(why) });
    let folder = folder.map_err(|why| why.to_string())?;
    let stat = fstat(&folder).map_err(|why| why.to_string())?;
    if trusted(&stat, uid) {
        return Ok(folder);
    }
    let mode = stat.st_mode & 0o7777;
    Err(format!("uid {} and mode {mode:o} are not to be trusted", stat.st_uid))
}

/// Nobody but this user and root could have written it.
fn trusted(stat: &Stat, uid: u32) -> bool {
    (stat.st_uid == uid || stat.st_uid == 0) && stat.st_mode & OTHERS_MAY_WRITE == 0
}

/// Ties the content to its name: a file that was renamed is not believed.
fn check(key: &Key, payload: &[u8]) -> blake3::Hash {
    blake3::keyed_hash(key.as_bytes(), payload)
}

/// The payload of a file; `None` when it is cut, altered, or another's.
fn content<'a>(bytes: &'a [u8], key: &Key) -> Option<&'a [u8]> {
    let (head, payload) = bytes.split_at_checked(HEAD)?;
    let (magic, hash) = head.split_at(MAGIC.len());
    (magic == MAGIC && check(key, payload) == *<&[u8; HASH]>::try_from(hash).ok()?)
        .then_some(payload)
}

/// Removes the oldest files until those that are left are well below `limit` bytes.
fn shrink(folder: &OwnedFd, limit: u64) -> Result<(), Errno> {
    let mut files = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            files.push((stat.st_mtime, stat.st_size as u64, name.to_owned()));
        }
    }
    let mut sum: u64 = files.iter().map(|(_, size, _)| size).sum();
    if sum <= limit {
        return Ok(());
    }
    files.sort_unstable();
    for (_, size, name) in files {
        if sum <= limit / 4 * 3 {
            break;
        }
        if unlinkat(folder, name.as_c_str(), AtFlags::empty()).is_ok() {
            sum -= size;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown};

    use proptest::prelude::*;

    use super::*;
    use iostrata_segment::scratch::ScratchDir;

    const PAYLOAD: &[u8] = b"what the weaver made";
    const POINTS: &[u16] = &[7, 256];

    fn cache(dir: &ScratchDir) -> Cache {
        Cache::open(Some(&dir.path().join("cache")), b"a jar")
    }

    fn file(cache: &Cache, key: &Key) -> PathBuf {
        cache.path.join(key.to_hex().as_str())
    }

    fn written(dir: &ScratchDir) -> (Cache, Key) {
        let cache = cache(dir);
        let key = cache.key(POINTS, b"a class");
        cache.write(&key, PAYLOAD);
        assert_eq!(cache.read(&key).as_deref(), Some(PAYLOAD));
        (cache, key)
    }

    #[test]
    fn what_was_written_is_read_by_the_next_process() {
        let dir = ScratchDir::new();
        let (_, key) = written(&dir);
        assert_eq!(cache(&dir).read(&key).as_deref(), Some(PAYLOAD));
        assert_eq!(std::fs::read_dir(dir.path().join("cache")).unwrap().count(), 1, "no draft");
    }

    #[test]
    fn another_class_jar_or_set_of_points_has_another_key() {
        let dir = ScratchDir::new();
        let (one, key) = written(&dir);
        assert_eq!(one.read(&one.key(POINTS, b"a clasS")), None);
        assert_eq!(one.read(&one.key(&POINTS[1..], b"a class")), None, "a point less");
        let other = Cache::open(Some(&dir.path().join("cache")), b"a newer jar");
        assert_ne!(other.key(POINTS, b"a class"), key);
        assert_eq!(other.read(&other.key(POINTS, b"a class")), None);
    }

    #[test]
    fn a_file_that_was_altered_cut_or_renamed_is_not_believed() {
        let dir = ScratchDir::new();
        let (cache, key) = written(&dir);
        let good = std::fs::read(file(&cache, &key)).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(file(&cache, &key), bad).unwrap();
            assert_eq!(cache.read(&key), None, "byte {at}");
            std::fs::write(file(&cache, &key), &good[..at]).unwrap();
            assert_eq!(cache.read(&key), None, "cut at {at}");
        }
        std::fs::write(file(&cache, &key), &good).unwrap();
        let other = cache.key(POINTS, b"another class");
        std::fs::rename(file(&cache, &key), file(&cache, &other)).unwrap();
        assert_eq!(cache.read(&other), None);
        // and it is written anew
        cache.write(&key, PAYLOAD);
        assert_eq!(cache.read(&key).as_deref(), Some(PAYLOAD));
    }

    #[test]
    fn files_that_others_could_have_written_are_not_believed() {
        let dir = ScratchDir::new();
        let (cache, key) = written(&dir);
        let path = file(&cache, &key);
        for mode in [0o620, 0o602] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(cache.read(&key), None, "{mode:o}");
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert_eq!(cache.read(&key), None, "a link");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(cache.read(&key), None, "a folder");
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_not_used() {
        let dir = ScratchDir::new();
        let path = dir.path().join("cache");
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o1777)).unwrap();
        let open = cache(&dir);
        let description = open.describe();
        assert!(description.ends_with("mode 1777 are not to be trusted"), "{description}");
        open.write(&open.key(POINTS, b"a class"), PAYLOAD);
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/", &link).unwrap();
        assert!(Cache::open(Some(&link), b"a jar").describe().starts_with("none: "));
    }

    #[test]
    fn another_users_folder_and_files_are_not_used() {
        let dir = ScratchDir::new();
        let (cache, key) = written(&dir);
        if rustix::process::geteuid().as_raw() != 0 {
            println!("skipped: giving files away needs root");
            return;
        }
        chown(file(&cache, &key), Some(4242), None).unwrap();
        assert_eq!(cache.read(&key), None);
        chown(dir.path().join("cache"), Some(4242), None).unwrap();
        let description = self::cache(&dir).describe();
        assert!(description.contains("uid 4242"), "{description}");
    }

    #[test]
    fn the_oldest_files_make_room() {
        let dir = ScratchDir::new();
        let mut cache = cache(&dir);
        cache.limit = 1000;
        let keys: Vec<Key> =
            (0..=WRITES_PER_LOOK).map(|i| cache.key(POINTS, &i.to_le_bytes())).collect();
        for (age, key) in keys.iter().enumerate() {
            cache.write(key, PAYLOAD);
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(age as u64);
            let open = std::fs::File::options().write(true).open(file(&cache, key)).unwrap();
            open.set_modified(time).unwrap();
        }
        assert_eq!(cache.read(&keys[0]), None);
        assert!(cache.read(&keys[keys.len() - 2]).is_some());
        let sum: u64 = std::fs::read_dir(&cache.path)
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(sum <= 1000, "{sum}");
    }

    #[test]
    fn many_writers_of_one_key_leave_one_whole_file() {
        let dir = ScratchDir::new();
        let caches: Vec<Cache> = (0..8).map(|_| cache(&dir)).collect();
        let key = caches[0].key(POINTS, b"a class");
        std::thread::scope(|scope| {
            for cache in &caches {
                scope.spawn(|| {
                    for _ in 0..50 {
                        cache.write(&key, PAYLOAD);
                        assert_eq!(cache.read(&key).as_deref(), Some(PAYLOAD));
                    }
                });
            }
        });
    }

    proptest! {
        #[test]
        fn foreign_bytes_are_refused(bytes: Vec<u8>, magic: bool) {
            let key = blake3::hash(b"any");
            let bytes = if magic { [MAGIC, bytes.as_slice()].concat() } else { bytes };
            prop_assert_eq!(content(&bytes, &key), None);
        }

        #[test]
        fn whole_files_are_read(payload: Vec<u8>, class: Vec<u8>) {
            let dir = ScratchDir::new();
            let cache = cache(&dir);
            let key = cache.key(POINTS, &class);
            cache.write(&key, &payload);
            prop_assert_eq!(cache.read(&key), Some(payload));
        }
    }
}
