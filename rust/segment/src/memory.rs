//! Shared memory as the protocol sees it: 32- and 64-bit cells with an order for each access.

/// Cells of a file that another process changes meanwhile.
///
/// `at` is a byte offset, aligned to the width of the access. Reading beyond the end gives 0 and
/// writing there does nothing: offsets are derived from sizes that were checked when the file was
/// opened, so this is the last line of defence and not an error to report.
pub trait Memory {
    fn acquire_u32(&self, at: usize) -> u32;
    fn acquire_u64(&self, at: usize) -> u64;
    fn relaxed_u32(&self, at: usize) -> u32;
    fn relaxed_u64(&self, at: usize) -> u64;
    fn release_u32(&self, at: usize, value: u32);
    fn release_u64(&self, at: usize, value: u64);
    fn set_u32(&self, at: usize, value: u32);
    fn set_u64(&self, at: usize, value: u64);
    /// Keeps the loads before it before the loads after it.
    fn acquire_fence(&self);
    /// Keeps the stores before it before the stores after it.
    fn release_fence(&self);
}
