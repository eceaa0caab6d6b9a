//! Class loaders that were asked whether their classes see the hooks: a loader that hides them
//! (`OSGi`) would make a woven class fail where it is used.

use std::sync::{Mutex, PoisonError};

use jni_sys::{jobject, jweak};

use crate::java::Agent;
use crate::jni::Jni;

/// More loaders than this are asked each time: a JVM that makes loaders all the time drops them.
const CAPACITY: usize = 64;

/// Each by a weak reference, so that it can go, with its answer.
#[derive(Debug, Default)]
pub struct Loaders(Mutex<Vec<(usize, bool)>>);

impl Loaders {
    /// Whether woven classes may be handed to `loader`; null is the bootstrap loader.
    pub fn see(&self, jni: Jni, agent: &Agent, loader: jobject) -> bool {
        if loader.is_null() {
            return true;
        }
        if let Some(known) = self.known(jni, loader) {
            return known;
        }
        // Not under the lock: the loader runs its own code, which may load classes.
        let sees = agent.sees(jni, loader).unwrap_or(false);
        self.keep(jni, loader, sees);
        sees
    }

    fn known(&self, jni: Jni, loader: jobject) -> Option<bool> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.iter().find(|(weak, _)| jni.is_same(*weak as jweak, loader));
        entry.map(|(_, sees)| *sees)
    }

    fn keep(&self, jni: Jni, loader: jobject, sees: bool) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(weak, _)| {
            let gone = jni.is_same(*weak as jweak, std::ptr::null_mut());
            if gone {
                jni.forget_weak(*weak as jweak);
            }
            !gone
        });
        if known.len() < CAPACITY
            && let Ok(weak) = jni.weak(loader)
        {
            known.push((weak as usize, sees));
        }
    }
}
