// SPDX-License-Identifier: GPL-2.0-or-later
//! Leaks Rust's Box, Vec and String, whose memory comes from malloc. The truth is printed as in
//! truth.h.
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::io::FromRawFd;
use std::sync::atomic::{AtomicPtr, Ordering};

const TIMES: usize = 5;

/// Visible to other code, so that the compiler cannot drop the allocations.
#[no_mangle]
pub static LAST: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

fn leave<T: ?Sized>(value: Box<T>) {
    LAST.store(Box::into_raw(value) as *mut u8, Ordering::SeqCst);
}

fn leave_vector<T>(vector: Vec<T>) {
    let mut vector = std::mem::ManuallyDrop::new(vector);
    LAST.store(vector.as_mut_ptr() as *mut u8, Ordering::SeqCst);
}

struct Terminal {
    output: File,
    input: File,
}

impl Terminal {
    /// Uses files, as the buffer of stdout would be an extra block.
    fn new() -> Terminal {
        unsafe { Terminal { output: File::from_raw_fd(1), input: File::from_raw_fd(0) } }
    }

    fn leaks(&mut self, function: &str, bytes: usize) {
        let size = TIMES * bytes;
        writeln!(self.output, "leak rusty::{} {} {}", function, TIMES, size).unwrap();
    }

    fn ready(&mut self) {
        let mut byte = [0];
        self.output.write_all(b"ready\n").unwrap();
        if !matches!(self.input.read(&mut byte), Ok(1)) {
            std::process::exit(0);
        }
    }
}

#[inline(never)]
fn boxed(value: u64) {
    leave(Box::new([value; 12])); // LEAK
}

#[inline(never)]
fn vector(size: usize) {
    leave_vector(Vec::<u16>::with_capacity(size)); // LEAK
}

#[inline(never)]
fn zeroed(size: usize) {
    leave_vector(vec![0u8; size]); // LEAK
}

#[inline(never)]
fn grown(size: usize) {
    let mut bytes: Vec<u8> = Vec::with_capacity(10);
    bytes.resize(10, 1);
    bytes.reserve_exact(size - 10); // LEAK
    leave_vector(bytes);
}

#[inline(never)]
fn string(text: &str) {
    leave_vector(text.to_string().into_bytes()); // LEAK
}

#[inline(never)]
fn generic<T: Clone>(values: &[T]) {
    leave_vector(values.to_vec()); // LEAK
}

trait Keeper {
    fn keep(&self, size: usize);
}

struct Shelf;

impl Keeper for Shelf {
    #[inline(never)]
    fn keep(&self, size: usize) {
        leave_vector(Vec::<u8>::with_capacity(size)); // LEAK
    }
}

#[inline(never)]
fn dropped(size: usize) -> usize {
    let text = "x".repeat(size);
    let copy = Box::new(text.clone());
    LAST.store(text.as_ptr() as *mut u8, Ordering::SeqCst);
    text.len() + copy.len()
}

fn main() {
    let mut terminal = Terminal::new();
    let shelf: &dyn Keeper = &Shelf;

    terminal.ready();
    for i in 0..TIMES {
        boxed(i as u64);
        vector(50);
        zeroed(300);
        grown(700);
        string("twenty characters of");
        generic(&[1u32, 2, 3]);
        shelf.keep(90);
        assert!(dropped(400) == 800);
    }
    terminal.leaks("boxed", 12 * 8);
    terminal.leaks("vector", 50 * 2);
    terminal.leaks("zeroed", 300);
    terminal.leaks("grown", 700);
    terminal.leaks("string", 20);
    terminal.leaks("generic", 12);
    terminal.leaks("Shelf::keep", 90);
    terminal.ready();
}
