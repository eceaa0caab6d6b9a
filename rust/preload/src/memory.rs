//! Memory of this library alone, from the kernel: the program's `malloc` may be anybody's, and may be
//! locked where we are called, in a handler of a signal.

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static OURS: GlobalDlmalloc = GlobalDlmalloc;

/// Before a thread could be inside while another one forks.
pub fn prepare() {
    // SAFETY: called once, when the library is loaded
    unsafe { dlmalloc::enable_alloc_after_fork() };
}
