//! Calls into Java that leave no exception behind.

use std::ffi::{CStr, CString, c_void};

use jni_sys::{JNIEnv, JNINativeMethod, jclass, jfieldID, jmethodID, jobject, jvalue, jweak};

/// The interface of the current thread.
#[derive(Debug, Clone, Copy)]
pub struct Jni(*mut JNIEnv);

/// Java has thrown something, which is cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JavaException;

/// `call!(jni, Function, arguments…)`: a function of the interface as Java 8 has it.
macro_rules! call {
    ($jni:expr, $function:ident $(, $argument:expr)*) => {
        // SAFETY: the JVM passed us this interface in this thread, and what is passed are
        // references and pointers that it gave or that live as long as the call
        unsafe { ((**$jni.0).v1_6.$function)($jni.0 $(, $argument)*) }
    };
}

impl Jni {
    /// The interface that the JVM has passed to a callback in this thread.
    pub fn new(env: *mut JNIEnv) -> Jni {
        Jni(env)
    }

    /// Whether the thread brings an exception of its own: then nothing else may be called.
    pub fn is_throwing(self) -> bool {
        call!(self, ExceptionCheck)
    }

    fn checked<T>(self, value: T) -> Result<T, JavaException> {
        if self.is_throwing() {
            call!(self, ExceptionClear);
            return Err(JavaException);
        }
        Ok(value)
    }

    fn object(self, object: jobject) -> Result<jobject, JavaException> {
        self.checked(object)?;
        if object.is_null() { Err(JavaException) } else { Ok(object) }
    }

    pub fn class(self, name: &CStr) -> Result<jclass, JavaException> {
        self.object(call!(self, FindClass, name.as_ptr()))
    }

    /// A class of the bootstrap loader.
    pub fn define(self, class_file: &[u8]) -> Result<(), JavaException> {
        let (bytes, size) = (class_file.as_ptr().cast(), class_file.len() as i32);
        let (name, loader) = (std::ptr::null(), std::ptr::null_mut());
        let class = self.object(call!(self, DefineClass, name, loader, bytes, size))?;
        call!(self, DeleteLocalRef, class);
        Ok(())
    }

    pub fn static_method(
        self,
        class: jclass,
        name: &CStr,
        types: &CStr,
    ) -> Result<jmethodID, JavaException> {
        let method = call!(self, GetStaticMethodID, class, name.as_ptr(), types.as_ptr());
        self.checked(method)
    }

    pub fn register(self, class: jclass, natives: &[JNINativeMethod]) -> Result<(), JavaException> {
        let size = natives.len() as i32;
        let failed = call!(self, RegisterNatives, class, natives.as_ptr(), size);
        self.checked(())?;
        if failed == 0 { Ok(()) } else { Err(JavaException) }
    }

    /// Null when the method returned null.
    pub fn call_object(
        self,
        class: jclass,
        method: jmethodID,
        with: &[jvalue],
    ) -> Result<jobject, JavaException> {
        let returned = call!(self, CallStaticObjectMethodA, class, method, with.as_ptr());
        self.checked(returned)
    }

    pub fn call_boolean(
        self,
        class: jclass,
        method: jmethodID,
        with: &[jvalue],
    ) -> Result<bool, JavaException> {
        let returned = call!(self, CallStaticBooleanMethodA, class, method, with.as_ptr());
        self.checked(returned)
    }

    pub fn call_void(
        self,
        class: jclass,
        method: jmethodID,
        with: &[jvalue],
    ) -> Result<(), JavaException> {
        call!(self, CallStaticVoidMethodA, class, method, with.as_ptr());
        self.checked(())
    }

    pub fn long_field(self, object: jobject, name: &CStr) -> Result<i64, JavaException> {
        let field = self.field(object, name, c"J")?;
        self.checked(call!(self, GetLongField, object, field))
    }

    pub fn boolean_field(self, object: jobject, name: &CStr) -> Result<bool, JavaException> {
        let field = self.field(object, name, c"Z")?;
        self.checked(call!(self, GetBooleanField, object, field))
    }

    fn field(self, object: jobject, name: &CStr, kind: &CStr) -> Result<jfieldID, JavaException> {
        let class = self.object(call!(self, GetObjectClass, object))?;
        let field = call!(self, GetFieldID, class, name.as_ptr(), kind.as_ptr());
        self.checked(field)
    }

    pub fn string(self, text: &str) -> Result<jobject, JavaException> {
        let text = CString::new(text).map_err(|_| JavaException)?;
        self.object(call!(self, NewStringUTF, text.as_ptr()))
    }

    pub fn text(self, string: jobject) -> Result<String, JavaException> {
        let chars = call!(self, GetStringUTFChars, string, std::ptr::null_mut());
        self.checked(())?;
        if chars.is_null() {
            return Err(JavaException);
        }
        // SAFETY: the JVM wrote a string that ends with 0
        let text = unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned();
        call!(self, ReleaseStringUTFChars, string, chars);
        Ok(text)
    }

    /// A string's first characters, whatever they are; `text` takes none beyond Unicode's first
    /// 65,536 as UTF-8 has them. Empty for null.
    pub fn characters(self, string: jobject, most: usize) -> Result<String, JavaException> {
        if string.is_null() {
            return Ok(String::new());
        }
        let size = (call!(self, GetStringLength, string) as usize).min(most);
        let mut characters = vec![0; size];
        call!(self, GetStringRegion, string, 0, size as i32, characters.as_mut_ptr());
        self.checked(())?;
        Ok(String::from_utf16_lossy(&characters))
    }

    pub fn array(self, bytes: &[u8]) -> Result<jobject, JavaException> {
        let size = i32::try_from(bytes.len()).map_err(|_| JavaException)?;
        let array = self.object(call!(self, NewByteArray, size))?;
        call!(self, SetByteArrayRegion, array, 0, size, bytes.as_ptr().cast());
        self.checked(array)
    }

    pub fn bytes(self, array: jobject) -> Result<Vec<u8>, JavaException> {
        let size = call!(self, GetArrayLength, array);
        let mut bytes = vec![0u8; size as usize];
        call!(self, GetByteArrayRegion, array, 0, size, bytes.as_mut_ptr().cast());
        self.checked(bytes)
    }

    /// Overwrites the beginning of an array.
    pub fn fill(self, array: jobject, bytes: &[u8]) -> Result<(), JavaException> {
        call!(self, SetByteArrayRegion, array, 0, bytes.len() as i32, bytes.as_ptr().cast());
        self.checked(())
    }

    /// Overwrites the beginning of an array.
    pub fn fill_ints(self, array: jobject, numbers: &[i32]) -> Result<(), JavaException> {
        call!(self, SetIntArrayRegion, array, 0, numbers.len() as i32, numbers.as_ptr());
        self.checked(())
    }

    /// The beginning of an array.
    pub fn longs<const N: usize>(self, array: jobject) -> Result<[i64; N], JavaException> {
        let mut numbers = [0; N];
        call!(self, GetLongArrayRegion, array, 0, N as i32, numbers.as_mut_ptr());
        self.checked(numbers)
    }

    /// Overwrites the beginning of an array.
    pub fn fill_longs(self, array: jobject, numbers: &[i64]) -> Result<(), JavaException> {
        call!(self, SetLongArrayRegion, array, 0, numbers.len() as i32, numbers.as_ptr());
        self.checked(())
    }

    /// Leaves an exception for Java.
    pub fn throw(self, class: &CStr, message: &str) {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        if let Ok(class) = self.class(class) {
            call!(self, ThrowNew, class, message.as_ptr());
        }
    }

    /// So many local references will be made; without room the JVM makes them all the same.
    pub fn make_room(self, references: i32) {
        call!(self, EnsureLocalCapacity, references);
        let _ = self.checked(());
    }

    /// An array of classes.
    pub fn classes(self, classes: &[jclass]) -> Result<jobject, JavaException> {
        let element = self.class(c"java/lang/Class")?;
        let size = classes.len() as i32;
        let array =
            self.object(call!(self, NewObjectArray, size, element, std::ptr::null_mut()))?;
        for (place, class) in classes.iter().enumerate() {
            call!(self, SetObjectArrayElement, array, place as i32, *class);
            self.checked(())?;
        }
        Ok(array)
    }

    /// The elements of an array of classes.
    pub fn elements(self, array: jobject) -> Result<Vec<jclass>, JavaException> {
        let size = call!(self, GetArrayLength, array);
        (0..size)
            .map(|place| self.object(call!(self, GetObjectArrayElement, array, place)))
            .collect()
    }

    pub fn global(self, object: jobject) -> Result<jobject, JavaException> {
        self.object(call!(self, NewGlobalRef, object))
    }

    pub fn weak(self, object: jobject) -> Result<jweak, JavaException> {
        self.object(call!(self, NewWeakGlobalRef, object))
    }

    pub fn forget_weak(self, weak: jweak) {
        call!(self, DeleteWeakGlobalRef, weak);
    }

    pub fn is_same(self, one: jobject, other: jobject) -> bool {
        call!(self, IsSameObject, one, other)
    }
}

/// A native method of a Java class.
pub fn native(name: &'static CStr, types: &'static CStr, code: *const c_void) -> JNINativeMethod {
    JNINativeMethod {
        name: name.as_ptr().cast_mut(),
        signature: types.as_ptr().cast_mut(),
        fnPtr: code.cast_mut(),
    }
}
