//! Which requests are in a sample, and what hangs together in it.

use super::*;

#[test]
fn a_request_is_kept_with_all_that_it_causes() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    site.process.detail.sampling(QUARTER as u32);
    let mut kept = 0;
    for _ in 0..1000 {
        enter(&mut thread, READ_BLOCK, site.file);
        let cause = thread.cause();
        call(&mut thread, JAVA_READ, 0, 1);
        thread.exit(READ_BLOCK, 0, 0);
        let carried = Cause { proc: 0x8888, since: 0, context: 0, ..cause };
        thread.push_context(HDFS_READ, 0, Some(carried));
        call(&mut thread, HDFS_READ, site.file, 1);
        thread.pop_context();
        kept += usize::from(cause.sampling > 0);
    }
    // 5 deviations of a binomial
    assert!((182..=318).contains(&kept), "{kept}");
    let slots: Vec<Event> = site.read(false).iter().flat_map(|found| found.slots.clone()).collect();
    assert_eq!(of(&slots, KIND_CALL, |_| ()).len(), 3 * kept);
    assert_eq!(site.count(), 3000);
    let told = of(&slots, KIND_CONTEXT, |slot| slot.asked);
    assert!(told.iter().all(|asked| [0, QUARTER as u32].contains(asked)));
}

#[test]
fn below_a_task_each_call_begins_a_request_and_the_task_is_kept() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    site.process.detail.sampling(QUARTER as u32);
    site.process.detail.level(LEVEL_JOB);
    enter(&mut thread, TASK, 0);
    assert_eq!(thread.cause().sampling, 0);
    for _ in 0..1000 {
        call(&mut thread, HDFS_READ, site.file, 1);
    }
    thread.exit(TASK, 0, 0);
    let slots: Vec<Event> = site.read(false).iter().flat_map(|found| found.slots.clone()).collect();
    let points = of(&slots, KIND_CALL, |slot| slot.point);
    let reads = points.iter().filter(|point| **point == HDFS_READ).count();
    assert!((182..=318).contains(&reads), "{reads}");
    assert_eq!(points.len(), reads + 1);
}

#[test]
fn first_draws_of_threads_are_independent() {
    let site = Site::new(Options::default());
    let draw = |tid| {
        let drawn = detail::drawn(QUARTER, site.process.thread(tid, "").draw());
        drawn > 0
    };
    let drawn: Vec<bool> = (1..=2000).map(draw).collect();
    // five deviations of binomials with 1/4 and 1/16
    let one = drawn.iter().filter(|is| **is).count();
    assert!((403..=597).contains(&one), "{one}");
    for apart in 1..9 {
        let both = drawn.iter().zip(&drawn[apart..]).filter(|(a, b)| **a && **b).count();
        assert!((70..=180).contains(&both), "{both} of a pair {apart} apart");
    }
}
