//! Cases of a target, one after the other, each from the seed and its number only.

use std::env;
use std::fmt::Debug;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use proptest::prelude::*;
pub use proptest::test_runner::TestCaseResult;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

/// Cases without `FUZZ_SECONDS`.
const SOME: u64 = 32;

/// Checks values of `strategy`: for `FUZZ_SECONDS`, or only the number `FUZZ_CASE`. The number of
/// the case, and how many it makes, go to the file `FUZZ_STATE` before it is checked, so that one
/// which ends the process can be repeated; one that fails is made smaller and shown.
pub fn fuzz<S: Strategy>(strategy: S, check: impl Fn(S::Value) -> TestCaseResult)
where
    S::Value: Debug,
{
    let seed = number("FUZZ_SEED").or(number("IOSTRATA_TEST_SEED")).unwrap_or(0);
    let end = number("FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let only = number("FUZZ_CASE");
    let state = env::var_os("FUZZ_STATE").map(|path| File::create(path).unwrap());
    for case in only.unwrap_or(0).. {
        if let Some(state) = &state {
            let checked = if only.is_some() { 1 } else { case + 1 };
            state.write_all_at(format!("{case} {checked}\n").as_bytes(), 0).unwrap();
        }
        let mut runner = runner(seed, case);
        let value = strategy.new_tree(&mut runner).unwrap();
        match runner.run_one(value, &check) {
            Ok(_) | Err(TestError::Abort(_)) => {}
            Err(TestError::Fail(why, value)) => {
                panic!("case {case} of seed {seed}: {why}\n{}", shown(&value))
            }
        }
        let is_over = end.map_or(case + 1 == SOME, |end| Instant::now() >= end);
        if is_over || only.is_some() {
            break;
        }
    }
}

/// Of one case, whose values depend on nothing else.
fn runner(seed: u64, case: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&case.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_time: 30_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

fn shown(value: &impl Debug) -> String {
    let mut text = format!("{value:?}");
    let most = text.floor_char_boundary(4000);
    text.truncate(most);
    text
}

/// Numbers where readers go wrong: bounds of types, sizes and pages, and their neighbours.
pub fn number_at_a_bound() -> impl Strategy<Value = u64> {
    let power = (0u32..64, -1i64..=1).prop_map(|(bits, by)| (1u64 << bits).wrapping_add_signed(by));
    prop_oneof![4 => power, 1 => 0u64..64, 1 => Just(u64::MAX), 1 => any::<u64>()]
}
