/*!
What a native program calls of the C library, of libaio and liburing, of MPI and of HDF5 to do I/O,
recorded: `LD_PRELOAD` puts this library before them.

A call comes in by a function of the same name ([`hooks`]), which calls the real one, and writes what
it did through the same writer as the JVM agent ([`log`]). What is going on in the process is in
[`session`]: none of it has a thread of its own, since a program that is started a thousand times a
second would pay for it. Nothing here may change what the program sees: `errno` is kept, what we call
ourselves goes to the real functions, and a fault inside ends our part only.

Memory is our own ([`memory`]): a handler of a signal may come while the program holds the lock of its
`malloc`.
*/

mod aio;
mod changes;
mod children;
mod control;
mod descriptors;
mod environment;
mod hdf5;
mod hooks;
mod loaded;
mod log;
mod memory;
mod mpi;
mod mpi_file;
mod real;
mod returned;
mod rings;
mod session;
mod streams;
mod syscalls;
mod uring;
