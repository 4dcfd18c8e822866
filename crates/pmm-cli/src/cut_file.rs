//! A large file that somebody cuts short while it is read: told in words, in place of a bare signal.

#![expect(unsafe_code, reason = "only the C library sets the handler of a signal")]

/// What is said.
const WORDS: &[u8] = b"error: a file that is read where it lies (large tokens or images in a model's folder) was cut short by \
another program\nhint: what was saved before is whole; a fit goes on with --resume, which makes the file again\n";

/// From now on, the system's SIGBUS ends the program with words and exit code 1.
#[cfg(unix)]
pub(crate) fn tell_of_cut_files() {
    extern "C" fn tell(_: libc::c_int) {
        // SAFETY: both functions may be called by a handler, and the words are part of the program.
        unsafe {
            libc::write(libc::STDERR_FILENO, WORDS.as_ptr().cast(), WORDS.len());
            libc::_exit(1);
        }
    }
    // SAFETY: the handler is a function of the kind that is asked for, and calls nothing but what a handler may.
    unsafe { libc::signal(libc::SIGBUS, tell as *const () as libc::sighandler_t) };
}

/// Other systems refuse to cut a file that is mapped.
#[cfg(not(unix))]
pub(crate) fn tell_of_cut_files() {}
