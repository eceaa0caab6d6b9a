//! What an event costs the collector: agents add it to what tracing costs their process.

use crate::clock;

/// Before anything was measured, ns.
const ASSUMED: f64 = 1000.0;
/// What the collector does anyway is not the price of the few events of a quiet time.
const MOST: f64 = 3000.0;
/// Slots in a second that tell anything.
const ENOUGH: u64 = 1000;
/// What each second leaves of those before: publishing comes in bursts.
const DECAY: f64 = 0.95;

/// CPU time and slots of the last minute or so.
#[derive(Debug)]
pub struct EventCost {
    cpu: u64,
    slots: u64,
    nanos: f64,
    events: f64,
}

impl Default for EventCost {
    fn default() -> EventCost {
        let events = ENOUGH as f64;
        EventCost { cpu: clock::cpu(), slots: 0, nanos: ASSUMED * events, events }
    }
}

impl EventCost {
    /// Once a second; `slots`: all so far. Ns of CPU.
    pub fn look(&mut self, slots: u64) -> u32 {
        let cpu = clock::cpu();
        self.add(cpu.saturating_sub(self.cpu), slots.saturating_sub(self.slots));
        (self.cpu, self.slots) = (cpu, slots);
        (self.nanos / self.events).min(MOST) as u32
    }

    fn add(&mut self, cpu: u64, slots: u64) {
        if slots >= ENOUGH {
            self.nanos = self.nanos * DECAY + cpu as f64;
            self.events = self.events * DECAY + slots as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_costs_what_busy_seconds_say() {
        let mut cost = EventCost::default();
        for _ in 0..100 {
            cost.add(50_000_000, 100_000);
            cost.add(9_000_000, 10); // nothing to do: what that costs is not the price of ten events
        }
        let nanos = cost.nanos / cost.events;
        assert!((499.0..520.0).contains(&nanos), "{nanos}");
    }
}
