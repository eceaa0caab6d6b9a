/*!
Which calls are timed where clocks would cost more than the calls.

One, at random, of each block of consecutive ones is timed, and stands for all of them. Blocks grow
while calls turn out to be short, and with their number: the first calls are all timed, and long ones
for a while. The sum of weight × time estimates the time of all; its variance is that of stratified
sampling, weight × (weight - 1) × (time - mean)² a call.
*/

/// Calls at first that are all timed.
const FIRST: u32 = 32;
/// Calls of the longest block.
const LONGEST: u32 = 128;
/// A call that takes as long as this, ns, is worth its own clock; later this times [`GROWN`] at most.
const WORTH: u32 = 4096;
const GROWN: u32 = 16;
/// Calls after which one has to be twice as long; then four times as many, and so on.
const MANY: u64 = 1 << 17;
/// The mean follows this many calls.
const MEMORY: u32 = 16;

/// Marsaglia's xorshift64: the state after this one, which is the number drawn; neither is 0.
#[must_use]
pub fn xorshift(state: u64) -> u64 {
    let mut x = state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^ x << 17
}

#[derive(Debug, Clone)]
pub struct Sampler {
    /// Calls that the one timed now, or else the next, stands for: a power of two.
    pub weight: u32,
    /// Calls until the next that is timed, and how many of its block are behind it.
    wait: u32,
    rest: u32,
    timed: u32,
    mean: f64,
    worth: u32,
    calls: u64,
    many: u64,
    random: u64,
}

impl Sampler {
    #[must_use]
    pub fn new(seed: u64) -> Sampler {
        Sampler {
            weight: 1,
            wait: 1,
            rest: 0,
            timed: 0,
            mean: 0.0,
            worth: WORTH,
            calls: 0,
            many: MANY,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    /// The next call that begins is to be timed.
    #[inline]
    pub fn is_next(&self) -> bool {
        self.wait <= 1
    }

    /// A call begins: true when it is to be timed; then [`Sampler::ended`] is due, or it is next
    /// again.
    #[inline]
    pub fn next(&mut self) -> bool {
        self.wait = self.wait.saturating_sub(1);
        self.wait == 0
    }

    /// The timed call took so many ns; what that adds to the variance of the sum of times.
    pub fn ended(&mut self, time: u64) -> f64 {
        let off = time as f64 - self.mean;
        let spread = f64::from(self.weight) * f64::from(self.weight - 1) * off * off;
        self.timed = FIRST.min(self.timed + 1);
        self.mean += off / f64::from(self.timed.min(MEMORY));
        self.draw();
        spread
    }

    fn draw(&mut self) {
        self.calls += u64::from(self.weight);
        if self.calls > self.many && self.worth < WORTH * GROWN {
            self.worth *= 2;
            self.many *= 4;
        }
        let fits = self.worth / (self.mean.clamp(1.0, f64::from(u32::MAX)) as u32);
        let block = if fits == 0 { 1 } else { 1 << fits.ilog2() };
        self.weight = if self.timed < FIRST { 1 } else { block.min(LONGEST) };
        self.random = xorshift(self.random);
        let before = (self.random >> 33) as u32 & (self.weight - 1);
        self.wait = self.rest + before + 1;
        self.rest = self.weight - 1 - before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate of the sum of `times`, its standard error, and how many were timed.
    fn estimate(times: &[u64], seed: u64) -> (f64, f64, usize) {
        let mut sampler = Sampler::new(seed);
        let (mut sum, mut variance, mut timed) = (0.0, 0.0, 0);
        for time in times {
            if sampler.next() {
                sum += f64::from(sampler.weight) * *time as f64;
                variance += sampler.ended(*time);
                timed += 1;
            }
        }
        (sum, variance.sqrt(), timed)
    }

    #[test]
    fn long_calls_are_all_timed_and_short_ones_rarely() {
        assert_eq!(estimate(&vec![5_000; 10_000], 1).2, 10_000);
        let timed = estimate(&vec![50; 10_000], 1).2;
        // 32 at first, then one of 64 (4096 / 50, rounded down to a power of two)
        assert!((32 + 9_900 / 64..=32 + 10_000 / 64 + 1).contains(&timed), "{timed}");
    }

    #[test]
    fn the_estimate_is_within_its_error_as_often_as_it_says() {
        let inside = (1..=400u64).filter(|seed| {
            let mut random = xorshift(seed * 77 + 1);
            let times: Vec<u64> = (0..20_000)
                .map(|_| {
                    random = xorshift(random);
                    20 + random % 200
                })
                .collect();
            let truth = times.iter().sum::<u64>() as f64;
            let (sum, error, _) = estimate(&times, *seed);
            (sum - truth).abs() <= 1.96 * error
        });
        // 95 of 100 is expected; of 400 draws fewer than 362 come once in ten thousand, and so do
        // more than 394: then the error would be larger than it is
        let inside = inside.count();
        assert!((362..=394).contains(&inside), "{inside} of 400");
    }

    #[test]
    fn a_timed_call_that_did_not_end_is_next_again() {
        let mut sampler = Sampler::new(9);
        assert!(sampler.next() && sampler.next());
        sampler.ended(1);
        assert!(sampler.next());
    }
}
