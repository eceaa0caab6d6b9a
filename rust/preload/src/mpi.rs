//! MPI-IO: a function for each of its names, with `int` and with large counts, of any MPI.
//!
//! A handle is a number or an address, as wide as a register in either case, and is passed on as it
//! came; so is what stands in the place of an argument that a function does not have.

use std::ffi::{c_char, c_int, c_void};

use crate::hooks::{CWD, named, point};
use crate::loaded::{Hook, loaded};
use crate::log::{self, Call, Target, traced};
use crate::mpi_file::{self, Amount, Done, Handle, Offset, Place};

/// To a program that has no MPI, which its loader should have ended: `MPI_ERR_OTHER` of some.
const NO_MPI: c_int = 16;
/// `MPI_ERR_COUNT`.
const TOO_MANY: c_int = 2;

type Data = *mut c_void;

/// A function that moves data, and where in the file.
fn moves(
    point: u16,
    file: Handle,
    place: Place,
    amount: Amount,
    real: impl FnOnce(Data) -> c_int,
) -> c_int {
    let Some((target, offset)) = log::ours(|| mpi_file::begins(file, place)).flatten() else {
        return real(amount.last);
    };
    let call = Call { target: Target::Known(target), offset, ..Call::around(point) };
    traced(&call, || {
        let mut own = [0_u64; 8]; // as large as the status of any MPI
        let amount = amount.seen(&mut own);
        let code = real(amount.last);
        Done::of(code, || amount.bytes(file))
    })
    .code
}

/// `WHAT IS KNOWN: functions with an offset; with a pointer of their own; with one that all ranks
/// share`, each by its name with counts of `int`, and with large ones.
macro_rules! data {
    (@both $name:ident $large:ident($($offset:ident: $type:ty)?), $known:ident, $place:expr) => {
        /// See [`data`].
        ///
        /// # Safety
        /// As of MPI's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            file: Handle,
            $($offset: $type,)?
            data: Data,
            count: c_int,
            kind: Handle,
            last: Data,
        ) -> c_int {
            let _hook = Hook::begins();
            let amount = Amount::$known(last, count.into(), kind);
            moves(const { point("mpi", stringify!($name)) }, file, $place, amount, |last| {
                loaded!(
                    $name(file, $($offset,)? data, count, kind, last)
                        as fn(Handle, $($type,)? Data, c_int, Handle, Data) -> c_int
                )
                .unwrap_or(NO_MPI)
            })
        }

        /// Programs ask whether there is such a function, and ours always is: of an MPI that has none,
        /// the one with an `int` does the same.
        ///
        /// # Safety
        /// As of MPI's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $large(
            file: Handle,
            $($offset: $type,)?
            data: Data,
            count: i64,
            kind: Handle,
            last: Data,
        ) -> c_int {
            let _hook = Hook::begins();
            let amount = Amount::$known(last, count, kind);
            moves(const { point("mpi", stringify!($name)) }, file, $place, amount, |last| {
                let with_int = || {
                    let Ok(count) = c_int::try_from(count) else { return Some(TOO_MANY) };
                    loaded!(
                        $name(file, $($offset,)? data, count, kind, last)
                            as fn(Handle, $($type,)? Data, c_int, Handle, Data) -> c_int
                    )
                };
                loaded!(
                    $large(file, $($offset,)? data, count, kind, last)
                        as fn(Handle, $($type,)? Data, i64, Handle, Data) -> c_int
                )
                .or_else(with_int)
                .unwrap_or(NO_MPI)
            })
        }
    };
    ($known:ident: $($at:ident $at_c:ident),*; $($own:ident $own_c:ident),*;
        $($shared:ident $shared_c:ident),*) => {
        $(data! { @both $at $at_c(offset: Offset), $known, Place::At(offset) })*
        $(data! { @both $own $own_c(), $known, Place::Pointer })*
        $(data! { @both $shared $shared_c(), $known, Place::Unknown })*
    };
}

data! { moved:
    MPI_File_read_at MPI_File_read_at_c,
    MPI_File_read_at_all MPI_File_read_at_all_c,
    MPI_File_write_at MPI_File_write_at_c,
    MPI_File_write_at_all MPI_File_write_at_all_c;
    MPI_File_read MPI_File_read_c,
    MPI_File_read_all MPI_File_read_all_c,
    MPI_File_write MPI_File_write_c,
    MPI_File_write_all MPI_File_write_all_c;
    MPI_File_read_shared MPI_File_read_shared_c,
    MPI_File_read_ordered MPI_File_read_ordered_c,
    MPI_File_write_shared MPI_File_write_shared_c,
    MPI_File_write_ordered MPI_File_write_ordered_c
}
data! { asked:
    MPI_File_iread_at MPI_File_iread_at_c,
    MPI_File_iread_at_all MPI_File_iread_at_all_c,
    MPI_File_iwrite_at MPI_File_iwrite_at_c,
    MPI_File_iwrite_at_all MPI_File_iwrite_at_all_c,
    MPI_File_read_at_all_begin MPI_File_read_at_all_begin_c,
    MPI_File_write_at_all_begin MPI_File_write_at_all_begin_c;
    MPI_File_iread MPI_File_iread_c,
    MPI_File_iread_all MPI_File_iread_all_c,
    MPI_File_iwrite MPI_File_iwrite_c,
    MPI_File_iwrite_all MPI_File_iwrite_all_c,
    MPI_File_read_all_begin MPI_File_read_all_begin_c,
    MPI_File_write_all_begin MPI_File_write_all_begin_c;
    MPI_File_iread_shared MPI_File_iread_shared_c,
    MPI_File_iwrite_shared MPI_File_iwrite_shared_c,
    MPI_File_read_ordered_begin MPI_File_read_ordered_begin_c,
    MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c
}

/// Functions that move no data, of a file whose handle or whose path is their first argument.
macro_rules! others {
    ($(fn $name:ident($($argument:ident: $type:ty),*) = $target:expr;)*) => {$(
        /// See [`others`].
        ///
        /// # Safety
        /// As of MPI's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            const POINT: u16 = point("mpi", stringify!($name));
            let _hook = Hook::begins();
            let call = Call { target: $target, ..Call::around(POINT) };
            traced(&call, || {
                let code = loaded!($name($($argument),*) as fn($($type),*) -> c_int);
                Done::of(code.unwrap_or(NO_MPI), || 0)
            })
            .code
        }
    )*};
}

fn of(file: Handle) -> Target<'static> {
    let known = log::ours(|| mpi_file::begins(file, Place::Unknown)).flatten();
    known.map_or(Target::None, |(target, _)| Target::Known(target))
}

others! {
    fn MPI_File_sync(file: Handle) = of(file);
    fn MPI_File_set_size(file: Handle, size: Offset) = of(file);
    fn MPI_File_preallocate(file: Handle, size: Offset) = of(file);
    fn MPI_File_set_view(file: Handle, offset: Offset, kind: Handle, file_kind: Handle,
        format: *const c_char, info: Handle) = of(file);
    fn MPI_File_read_at_all_end(file: Handle, data: Data, status: Data) = of(file);
    fn MPI_File_write_at_all_end(file: Handle, data: Data, status: Data) = of(file);
    fn MPI_File_read_all_end(file: Handle, data: Data, status: Data) = of(file);
    fn MPI_File_write_all_end(file: Handle, data: Data, status: Data) = of(file);
    fn MPI_File_read_ordered_end(file: Handle, data: Data, status: Data) = of(file);
    fn MPI_File_write_ordered_end(file: Handle, data: Data, status: Data) = of(file);
    fn MPI_File_delete(path: *const c_char, info: Handle) = path_of(path);
}

/// A name may begin with that of a driver: `ufs:/data/file`.
fn path_of<'a>(path: *const c_char) -> Target<'a> {
    let Target::Path(folder, path) = named(CWD, path) else { return Target::None };
    Target::Path(folder, mpi_file::without_driver(path))
}

/// # Safety
/// As of MPI's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn MPI_File_open(
    ranks: Handle,
    path: *const c_char,
    mode: c_int,
    info: Handle,
    file: *mut Handle,
) -> c_int {
    const POINT: u16 = point("mpi", "MPI_File_open");
    let _hook = Hook::begins();
    let target = path_of(path);
    let call = Call { target, ..Call::around(POINT) };
    traced(&call, || {
        let code = loaded!(MPI_File_open(ranks, path, mode, info, file)
            as fn(Handle, *const c_char, c_int, Handle, *mut Handle) -> c_int);
        let done = Done::of(code.unwrap_or(NO_MPI), || 0);
        if done.code == 0 {
            // SAFETY: MPI has just written it
            log::ours(|| mpi_file::opened(unsafe { *file }, target, mode));
        }
        done
    })
    .code
}

/// # Safety
/// As of MPI's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn MPI_File_close(file: *mut Handle) -> c_int {
    const POINT: u16 = point("mpi", "MPI_File_close");
    let _hook = Hook::begins();
    // SAFETY: the program passes it on to MPI, which reads it just so
    let handle = unsafe { file.as_ref() }.copied();
    let call = Call { target: handle.map_or(Target::None, of), ..Call::around(POINT) };
    traced(&call, || {
        // before: another thread may get the same one at once
        log::ours(|| handle.map(mpi_file::closed));
        let code = loaded!(MPI_File_close(file) as fn(*mut Handle) -> c_int);
        Done::of(code.unwrap_or(NO_MPI), || 0)
    })
    .code
}
