//! Modules form no circle, and arrows point one way: model ← store ← collect.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Source by module (`collect::spool`), without its tests.
fn read(folder: &Path, within: &str, modules: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            read(&path, &format!("{within}{name}::"), modules);
        } else if path.is_file() && !["arrows", "golden", "main", "mod"].contains(&name) {
            let source = fs::read_to_string(&path).unwrap();
            let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let code: Vec<&str> = code.lines().filter(is_code).collect();
            modules.insert(format!("{within}{name}"), code.join("\n"));
        }
    }
}

/// The modules that `code` names in paths from `start`, which stands for `within`.
fn named(code: &str, start: &str, within: &str, all: &[String]) -> BTreeSet<String> {
    let is_end = |c: char| !(c.is_alphanumeric() || "_:".contains(c));
    let paths = code.split(start).skip(1).filter_map(|rest| rest.split(is_end).next());
    let paths: Vec<String> = paths.map(|path| format!("{within}{path}::")).collect();
    let is_named = |module: &&String| paths.iter().any(|p| p.starts_with(&format!("{module}::")));
    all.iter().filter(is_named).cloned().collect()
}

#[test]
fn modules_form_no_circle_and_see_only_what_is_below() {
    let mut modules = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut modules);
    let all: Vec<String> = modules.keys().cloned().collect();
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, code) in &modules {
        let within =
            module.rsplit_once("::").map_or(String::new(), |(above, _)| format!("{above}::"));
        let below = &named(code, "crate::", "", &all) | &named(code, "super::", &within, &all);
        let layers = ["model::", "store::", "collect::"];
        let layer = layers.iter().position(|layer| module.starts_with(layer));
        for above in layer.map_or(&[][..], |layer| &layers[layer + 1..]) {
            assert!(!below.iter().any(|seen| seen.starts_with(above)), "{module} sees {below:?}");
        }
        arrows.insert(module.clone(), below);
    }
    assert!(arrows["collect::collector"].contains("store::directory"), "{arrows:?}");
    // what sees nothing is taken away until nothing is left
    while let Some(leaf) = all.iter().find(|m| arrows.get(*m).is_some_and(BTreeSet::is_empty)) {
        arrows.remove(leaf);
        arrows.values_mut().map(|below| below.remove(leaf)).count();
    }
    assert!(arrows.is_empty(), "a circle: {arrows:#?}");
}
