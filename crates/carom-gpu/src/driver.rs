//! The driver's functions, each with what makes it safe: the only unsafe code of the project.
//!
//! A GPU is one context; memory and kernels belong to it and keep it alive. All work goes to one stream, and copies wait for it.
#![allow(unsafe_code, reason = "the driver has no other functions")]

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use crate::Unavailable;

/// The stack of a thread: the recursion of `libm::frexp` keeps the compiler from saying how much it needs, which is less than this.
const STACK: usize = 16 << 10;

/// Threads of a block.
const BLOCK: u32 = 128;

/// A GPU.
#[derive(Debug, Clone)]
pub struct Gpu {
    context: Arc<Context>,
    name: String,
}

#[derive(Debug)]
struct Context {
    device: sys::CUdevice,
    handle: sys::CUcontext,
}

// SAFETY: a context is a handle that any thread may use; each thread makes it current before it calls anything.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once, in `Gpu::open`; memory and modules are gone, as they keep it alive.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

impl Context {
    fn current(&self) -> Result<(), DriverError> {
        // SAFETY: the handle is alive as long as this is.
        unsafe { result::ctx::set_current(self.handle) }
    }
}

/// In words, with the driver's own name for it.
pub(crate) fn words(error: DriverError) -> String {
    format!("{:?}", error.0)
}

impl Gpu {
    /// The first GPU.
    ///
    /// # Errors
    /// If there is no driver, or no GPU.
    pub fn open() -> Result<Self, Unavailable> {
        // SAFETY: loads the driver's library, whose initialisers are its own affair.
        if !unsafe { sys::is_culib_present() } {
            return Err(Unavailable::NoDriver);
        }
        result::init().map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NO_DEVICE => Unavailable::NoGpu,
            _ => Unavailable::Other(words(error)),
        })?;
        let other = |error| Unavailable::Other(words(error));
        if result::device::get_count().map_err(other)? == 0 {
            return Err(Unavailable::NoGpu);
        }
        let device = result::device::get(0).map_err(other)?;
        let name = result::device::get_name(device).map_err(other)?;
        // SAFETY: the device exists.
        let handle = unsafe { result::primary_ctx::retain(device) }.map_err(other)?;
        let context = Arc::new(Context { device, handle });
        context.current().map_err(other)?;
        result::ctx::set_limit(sys::CUlimit::CU_LIMIT_STACK_SIZE, STACK).map_err(other)?;
        Ok(Self { context, name })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of memory that are free.
    pub(crate) fn free_memory(&self) -> Result<usize, DriverError> {
        self.context.current()?;
        Ok(result::mem_get_info()?.0)
    }

    /// Waits until all work is done.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        self.context.current()?;
        result::ctx::synchronize()
    }

    /// Compiles a program, or finds it compiled.
    pub(crate) fn load(&self, ptx: &str) -> Result<Program, Unavailable> {
        self.context.current().map_err(|error| Unavailable::Other(words(error)))?;
        let text = CString::new(ptx).map_err(|_| Unavailable::Other("the program is damaged".to_string()))?;
        // SAFETY: a text that ends with a zero byte.
        let module = unsafe { result::module::load_data(text.as_ptr().cast()) }
            .map_err(|error| Unavailable::OldDriver(words(error)))?;
        Ok(Program { context: Arc::clone(&self.context), module })
    }

    /// Memory for so many items, all bits zero.
    pub(crate) fn memory<T: Plain>(&self, items: usize) -> Result<Memory<T>, DriverError> {
        self.context.current()?;
        let bytes = items.max(1) * size_of::<T>();
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_sync(bytes) }?;
        let memory = Memory { context: Arc::clone(&self.context), address, items, of: PhantomData };
        // SAFETY: it is as long as that.
        unsafe { result::memset_d8_sync(address, 0, bytes) }?;
        Ok(memory)
    }
}

/// What is the same bits on both sides.
pub(crate) trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for u32 {}
impl Plain for u64 {}

/// Memory of a GPU.
#[derive(Debug)]
pub(crate) struct Memory<T> {
    context: Arc<Context>,
    address: sys::CUdeviceptr,
    items: usize,
    of: PhantomData<T>,
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        if self.context.current().is_ok() {
            // SAFETY: allocated once, freed once; the driver waits for kernels that use it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

impl<T: Plain> Memory<T> {
    /// Writes items from the start.
    pub fn write(&mut self, from: &[T]) -> Result<(), DriverError> {
        assert!(from.len() <= self.items, "memory is too short");
        self.context.current()?;
        // SAFETY: it is long enough, and the copy waits for the work before.
        unsafe { result::memcpy_htod_sync(self.address, from) }
    }

    /// Reads items from the start.
    pub fn read(&self, into: &mut [T]) -> Result<(), DriverError> {
        assert!(into.len() <= self.items, "memory is too short");
        self.context.current()?;
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_sync(into, self.address) }
    }

    /// As an argument of a kernel.
    pub fn argument(&self) -> Argument {
        Argument::Address(self.address)
    }

    /// The place of an item, as an argument of a kernel.
    pub fn argument_at(&self, item: usize) -> Argument {
        assert!(item < self.items, "memory is too short");
        Argument::Address(self.address + (item * size_of::<T>()) as u64)
    }
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument {
    Address(u64),
    Long(u64),
    Short(u32),
}

/// A program of several kernels.
#[derive(Debug)]
pub(crate) struct Program {
    context: Arc<Context>,
    module: sys::CUmodule,
}

// SAFETY: as a context.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Drop for Program {
    fn drop(&mut self) {
        if self.context.current().is_ok() {
            // SAFETY: loaded once, unloaded once.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

impl Program {
    /// Starts a kernel with a thread for each of so many items.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and the memory that they point to as long as it expects.
    pub unsafe fn start(
        &self,
        kernel: &str,
        threads: u32,
        arguments: &[Argument],
    ) -> Result<(), DriverError> {
        if threads == 0 {
            return Ok(());
        }
        self.context.current()?;
        let name = CString::new(kernel).map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND))?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.module, name) }?;
        let mut values: Vec<u64> = arguments
            .iter()
            .map(|argument| match *argument {
                Argument::Address(word) | Argument::Long(word) => word,
                // Read as four bytes, the lower ones.
                Argument::Short(word) => u64::from(word),
            })
            .collect();
        let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|word| (&raw mut *word).cast()).collect();
        let grid = threads.div_ceil(BLOCK);
        // SAFETY: the caller's word; the values live until the driver has copied them, which it does at once.
        unsafe {
            result::launch_kernel(
                function,
                (grid, 1, 1),
                (BLOCK, 1, 1),
                0,
                std::ptr::null_mut(),
                &mut pointers,
            )
        }
    }
}
