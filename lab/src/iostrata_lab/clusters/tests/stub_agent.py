"""A Java agent that leaves one file for each JVM it is loaded into, built on the spot."""

from __future__ import annotations

import subprocess
from pathlib import Path

from iostrata_lab.clusters import machine
from iostrata_lab.clusters.hadoop.conf import AgentOptions

SOURCE = """
import java.nio.file.*;

public class StubAgent {
  public static void premain(String arguments) throws Exception {
    String command = System.getProperty("sun.java.command", "?").split(" ")[0];
    Path dir = Paths.get(arguments.substring("dir=".length()));
    String probe = System.getProperty("probe", "");
    String user = System.getProperty("user.name");
    String text = command + " " + user + " " + probe;
    Files.write(Files.createTempFile(dir, "jvm-", ""), text.getBytes("UTF-8"));
  }
}
"""


def build(folder: Path) -> AgentOptions:
    """Compile and pack the agent; its JVMs, of any user, are noted in `folder`/jvms."""
    jdk = machine.java_home(None)
    (folder / "StubAgent.java").write_text(SOURCE)
    (folder / "manifest").write_text("Premain-Class: StubAgent\n")
    subprocess.run([jdk / "bin/javac", "-d", folder, folder / "StubAgent.java"], check=True)
    jar = folder / "stub-agent.jar"
    pack = [str(jdk / "bin/jar"), "cfm", str(jar), str(folder / "manifest")]
    subprocess.run([*pack, "-C", str(folder), "StubAgent.class"], check=True)
    jvms = folder / "jvms"
    jvms.mkdir()
    jvms.chmod(0o1777)
    return AgentOptions(jar, jvms)


def jvms(agent: AgentOptions) -> list[tuple[str, str, str]]:
    """Main class without its package, user, and -Dprobe of every JVM so far, sorted."""
    found = []
    for path in agent.dir.iterdir():
        command, user, probe = path.read_text().split(" ")
        found.append((command.rpartition(".")[2], user, probe))
    return sorted(found)
