//! Takes the package of the agent from its one place, the pom that relocates it there.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pom = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java/agent/pom.xml");
    println!("cargo::rerun-if-changed={}", pom.display());
    let text = std::fs::read_to_string(&pom)?;
    let package = text
        .split_once("<agent.package>")
        .and_then(|(_, rest)| rest.split_once("</agent.package>"))
        .map(|(package, _)| package.trim().replace('.', "/"))
        .ok_or_else(|| format!("{}: no agent.package", pom.display()))?;
    println!("cargo::rustc-env=IOSTRATA_AGENT_PACKAGE={package}/agent");
    println!("cargo::rustc-env=IOSTRATA_SEGMENT_PACKAGE={package}/segment");
    Ok(())
}
