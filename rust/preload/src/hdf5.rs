//! HDF5: files, and the datasets in them.
//!
//! What is read and written is asked of HDF5 before the call, by functions that print no error: of
//! identifiers that stand for what they should.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use iostrata_segment::schema::{CATEGORY_EXCEPTION, FLAG_ERROR};
use iostrata_segment::writer::Named;

use crate::descriptors::within_file;
use crate::hooks::{CWD, named, point};
use crate::loaded::{Hook, Loaded, loaded};
use crate::log::{self, Call, Target, traced};
use crate::returned::Returned;
use crate::session;

/// `hid_t`, since HDF5 1.10.
type Id = i64;
type Data = *mut c_void;
type Name = *const c_char;
type Ids = *const Id;

/// `H5I_type_t`.
const FILE: c_int = 1;
const GROUP: c_int = 2;
const TYPE: c_int = 3;
const SPACE: c_int = 4;
const DATASET: c_int = 5;
/// `H5I_ATTR` until 1.10, and since 1.12.
const ATTRIBUTES: [c_int; 2] = [6, 7];
/// `H5S_ALL`, `H5S_BLOCK` and `H5S_PLIST` are no identifiers of spaces.
const NO_SPACE: Id = 2;
const MOST_NAME: usize = 4096;

/// What a function has returned: an identifier, or nothing but whether it has failed.
#[derive(Debug, Clone, Copy)]
struct Done<T>(T);

impl<T: Copy + Into<i64>> Returned for Done<T> {
    fn bytes(self) -> i64 {
        0
    }

    fn has_failed(self) -> bool {
        self.0.into() < 0
    }

    fn descriptor(self) -> c_int {
        -1
    }

    fn why(self, _: c_int) -> (i32, u8) {
        let name = |session: &session::Session| {
            session.process.named(Named::of(CATEGORY_EXCEPTION), "HDF5 error") as i32
        };
        (session::current().map_or(0, name), FLAG_ERROR)
    }
}

/// `fn NAME(arguments) -> type = what it acts on, and how many bytes it moves;`.
macro_rules! hooks {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $returned:ty = $target:expr $(, $bytes:expr)?;)*) => {$(
        /// See [`hooks`].
        ///
        /// # Safety
        /// As of HDF5's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $returned {
            const POINT: u16 = point("hdf5", stringify!($name));
            let _hook = Hook::begins();
            let call = Call { target: $target, $(bytes: asked(|| $bytes).unwrap_or(0),)? ..Call::around(POINT) };
            let real = || {
                let done = loaded!($name($($argument),*) as fn($($type),*) -> $returned);
                Done(done.unwrap_or(-1))
            };
            traced(&call, real).0
        }
    )*};
}

hooks! {
    fn H5Fcreate(path: Name, flags: c_uint, how: Id, by: Id) -> Id = named(CWD, path);
    fn H5Fopen(path: Name, flags: c_uint, by: Id) -> Id = named(CWD, path);
    fn H5Fflush(object: Id, scope: c_int) -> c_int = file_of(object);
    fn H5Fclose(file: Id) -> c_int = file_of(file);
    fn H5Dcreate2(at: Id, name: Name, kind: Id, space: Id, links: Id, how: Id, by: Id) -> Id
        = file_of(at);
    fn H5Dopen2(at: Id, name: Name, by: Id) -> Id = file_of(at);
    fn H5Dclose(dataset: Id) -> c_int = dataset_of(dataset);
    fn H5Dread(dataset: Id, kind: Id, memory: Id, space: Id, how: Id, to: Data) -> c_int
        = dataset_of(dataset), selected(dataset, kind, [memory, space]);
    fn H5Dwrite(dataset: Id, kind: Id, memory: Id, space: Id, how: Id, from: Data) -> c_int
        = dataset_of(dataset), selected(dataset, kind, [memory, space]);
    fn H5Dread_multi(count: usize, datasets: Ids, kinds: Ids, memories: Ids, spaces: Ids, how: Id,
        to: *mut Data) -> c_int
        = first_of(count, datasets), selected_of_all(count, [datasets, kinds, memories, spaces]);
    fn H5Dwrite_multi(count: usize, datasets: Ids, kinds: Ids, memories: Ids, spaces: Ids, how: Id,
        from: *const Data) -> c_int
        = first_of(count, datasets), selected_of_all(count, [datasets, kinds, memories, spaces]);
    fn H5Aread(attribute: Id, kind: Id, to: Data) -> c_int
        = attribute_of(attribute), whole(attribute, kind);
    fn H5Awrite(attribute: Id, kind: Id, from: Data) -> c_int
        = attribute_of(attribute), whole(attribute, kind);
}

/// What HDF5 says, if something is recorded, and this is an HDF5 whose types we know.
fn asked<T>(ask: impl FnOnce() -> Option<T>) -> Option<T> {
    log::ours(|| {
        session::current()?;
        is_known().then(ask)?
    })
    .flatten()
}

fn is_known() -> bool {
    const NOT_ASKED: u8 = 0;
    const KNOWN: u8 = 1;
    const OTHER: u8 = 2;
    static IS: AtomicU8 = AtomicU8::new(NOT_ASKED);
    let mut is = IS.load(Ordering::Relaxed);
    if is == NOT_ASKED {
        let [mut major, mut minor, mut release]: [c_uint; 3] = [0; 3];
        let version = loaded!(H5get_libversion(&raw mut major, &raw mut minor, &raw mut release)
            as fn(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int);
        is = if version == Some(0) && (major, minor) >= (1, 10) { KNOWN } else { OTHER };
        IS.store(is, Ordering::Relaxed);
    }
    is == KNOWN
}

/// `H5I_type_t`, less than 1 of what is none; types of HDF5's own are no valid ones by `H5Iis_valid`.
fn kind_of(id: Id) -> c_int {
    loaded!(H5Iget_type(id) as fn(Id) -> c_int).unwrap_or(0)
}

fn file_of<'a>(object: Id) -> Target<'a> {
    target_of(object, |_| String::new())
}

fn dataset_of<'a>(dataset: Id) -> Target<'a> {
    let key = (LIBRARY.get() as usize, dataset);
    let known = log::ours(|| session::current()?.datasets.with(|all| all.get(&key).copied()));
    if let Some(target) = known.flatten() {
        return Target::Known(target);
    }
    let target = target_of(dataset, |dataset| {
        text(|name, room| {
            loaded!(H5Iget_name(dataset, name, room) as fn(Id, *mut c_char, usize) -> isize)
        })
    });
    if let Target::Known(target) = target {
        log::ours(|| session::current()?.datasets.with(|all| all.insert(key, target)));
    }
    target
}

/// Of several datasets, the first; they are in one file, or in several.
fn first_of<'a>(count: usize, datasets: Ids) -> Target<'a> {
    match ids(count, datasets) {
        Some([first, ..]) if session::is_on() => dataset_of(*first),
        _ => Target::None,
    }
}

/// What the program passes, which HDF5 reads just so; of a number that is none, nothing is.
fn ids<'a>(count: usize, at: Ids) -> Option<&'a [Id]> {
    // SAFETY: as many as the program says
    (!at.is_null() && (1..=MOST).contains(&count))
        .then(|| unsafe { std::slice::from_raw_parts(at, count) })
}

/// `/OBJECT@ATTRIBUTE` behind the file.
fn attribute_of<'a>(attribute: Id) -> Target<'a> {
    if asked(|| Some(ATTRIBUTES.contains(&kind_of(attribute)))) != Some(true) {
        return Target::None;
    }
    target_of(attribute, |attribute| {
        let object = text(|name, room| {
            loaded!(H5Iget_name(attribute, name, room) as fn(Id, *mut c_char, usize) -> isize)
        });
        let name = text(|name, room| {
            loaded!(H5Aget_name(attribute, room, name) as fn(Id, usize, *mut c_char) -> isize)
        });
        format!("{object}@{name}")
    })
}

/// What tells one HDF5 from another.
static LIBRARY: Loaded = Loaded::new(c"H5Iget_name");

/// Targets of datasets, by library and identifier: of these none has stood for two, but after
/// `H5close`.
#[derive(Debug, Default)]
pub struct Datasets(Mutex<BTreeMap<(usize, Id), u64>>);

/// So many that are open, or have been, are remembered.
const MOST: usize = 1 << 14;

impl Datasets {
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<(usize, Id), u64>) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.clear();
        }
        work(&mut all)
    }
}

/// Identifiers begin anew.
///
/// # Safety
/// As of HDF5's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn H5close() -> c_int {
    let _hook = Hook::begins();
    log::ours(|| session::current().map(|session| session.datasets.with(BTreeMap::clear)));
    loaded!(H5close() as fn() -> c_int).unwrap_or(-1)
}

/// The file of an object, and what is behind its name.
fn target_of<'a>(object: Id, inside: impl FnOnce(Id) -> String) -> Target<'a> {
    let target = asked(|| {
        let kind = kind_of(object);
        if !matches!(kind, FILE | GROUP | DATASET) && !ATTRIBUTES.contains(&kind) {
            return None;
        }
        let file = text(|name, room| {
            loaded!(H5Fget_name(object, name, room) as fn(Id, *mut c_char, usize) -> isize)
        });
        let process = &session::current()?.process;
        Some(within_file(process, Path::new(&file), &inside(object)))
    });
    target.map_or(Target::None, Target::Known)
}

fn text(ask: impl FnOnce(*mut c_char, usize) -> Option<isize>) -> String {
    let mut text = [0_u8; MOST_NAME];
    ask(text.as_mut_ptr().cast(), text.len());
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    text.to_string_lossy().into_owned()
}

/// Bytes in the program's memory of what is selected there, or, if all of that is, in the dataset.
/// Of values of variable length it is what stands for them in memory.
fn selected(dataset: Id, kind: Id, spaces: [Id; 2]) -> Option<usize> {
    if kind_of(dataset) != DATASET || kind_of(kind) != TYPE {
        return None;
    }
    let size = loaded!(H5Tget_size(kind) as fn(Id) -> usize)?;
    let points = match spaces.into_iter().find(|space| *space > NO_SPACE) {
        Some(space) if kind_of(space) == SPACE => points_of(space),
        Some(_) => None,
        None => {
            let space = loaded!(H5Dget_space(dataset) as fn(Id) -> Id)?;
            let points = points_of(space);
            loaded!(H5Sclose(space) as fn(Id) -> c_int)?;
            points
        }
    };
    usize::try_from(points?).ok()?.checked_mul(size)
}

/// [`selected`] of each, in sum.
fn selected_of_all(count: usize, [datasets, kinds, memories, spaces]: [Ids; 4]) -> Option<usize> {
    let [datasets, kinds] = [ids(count, datasets)?, ids(count, kinds)?];
    let [memories, spaces] = [ids(count, memories)?, ids(count, spaces)?];
    let sizes = (0..count).map(|at| selected(datasets[at], kinds[at], [memories[at], spaces[at]]));
    sizes.sum()
}

/// Bytes in the program's memory of an attribute.
fn whole(attribute: Id, kind: Id) -> Option<usize> {
    if !ATTRIBUTES.contains(&kind_of(attribute)) || kind_of(kind) != TYPE {
        return None;
    }
    let size = loaded!(H5Tget_size(kind) as fn(Id) -> usize)?;
    let space = loaded!(H5Aget_space(attribute) as fn(Id) -> Id)?;
    let points = points_of(space);
    loaded!(H5Sclose(space) as fn(Id) -> c_int)?;
    usize::try_from(points?).ok()?.checked_mul(size)
}

fn points_of(space: Id) -> Option<i64> {
    loaded!(H5Sget_select_npoints(space) as fn(Id) -> i64)
}
