"""iostrata lab"""

from __future__ import annotations

import os
import pwd
import shlex
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iostrata.cli.arguments import JsonOption, examples
from iostrata.cli.console import note, print_json, print_table
from iostrata.errors import UserError
from iostrata.text import size

if TYPE_CHECKING:
    from iostrata_lab.clusters import DaemonStatus, Lab, Topology
    from iostrata_lab.recording import OrderedHadoop

NameOption = Annotated[str | None, typer.Option("--name", help="Name of the lab.")]
NameArgument = Annotated[
    str | None, typer.Argument(help="Name of the lab; by default the one that runs.")
]

RacksOption = Annotated[int, typer.Option(min=1, help="Racks that the nodes are on.")]
BrakeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NODE:WHAT=LIMIT,…", help="A slow node: disk, disk-ops, dirty, net, cpu; see brake."
    ),
]

CopiesOption = Annotated[int, typer.Option(min=1, max=9, help="Copies of each piece of a file.")]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A property of Hadoop, over the lab's own."),
]
YarnOption = Annotated[
    bool, typer.Option("--yarn", help="Run YARN on it, with a NodeManager per node.")
]
LOCALITIES = ("free", "local", "remote", "none")
LocalityOption = Annotated[
    str,
    typer.Option(help="Tasks go to their input (free), elsewhere (remote), anywhere (none)."),
]
TracedOption = Annotated[
    bool, typer.Option("--traced/--untraced", help="Its servers can be recorded.")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="Starts and ends clusters on this machine: Hadoop, and other file systems.",
    )
    up_group = typer.Typer(no_args_is_help=True, help="Starts a cluster.")
    up_group.command(
        "hadoop",
        epilog=examples(
            "iostrata lab up hadoop",
            "iostrata lab up hadoop --datanodes 3 --name three",
            "iostrata lab up hadoop --nodes 3 --racks 2 --brake node-3:disk=20MB/s,cpu=0.5",
            "iostrata lab up hadoop --version 3.3.6",
            "iostrata lab up hadoop --conf dfs.blocksize=1048576 --conf dfs.replication=1",
            "iostrata lab up hadoop --daemon-user hdfs=daemon --daemon-user yarn=bin",
            'eval "$(iostrata lab env)"; hadoop fs -ls /',
        ),
    )(up)
    up_group.command(
        "moosefs",
        epilog=examples(
            "iostrata lab up moosefs",
            "iostrata lab up moosefs --nodes 4 --racks 2 --copies 3 --name mfs",
            "iostrata lab up moosefs --brake node-2:disk=20MB/s",
            'eval "$(iostrata lab env)"; dd if=/dev/zero of=$IOSTRATA_LAB_MOUNT/a bs=1M count=64',
        ),
    )(up_moosefs)
    up_group.command(
        "cephfs",
        epilog=examples(
            "iostrata lab up cephfs",
            "iostrata lab up cephfs --nodes 4 --copies 1 --layout large --name ceph",
            "iostrata lab up cephfs --brake node-2:disk=20MB/s",
            'eval "$(iostrata lab env)"; ceph status',
        ),
    )(up_cephfs)
    group.add_typer(up_group, name="up")
    group.command(epilog=examples("iostrata lab status", "iostrata lab status --json"))(status)
    group.command(
        epilog=examples(
            "iostrata lab brake node-2 --disk 20MB/s --net 10MB/s",
            "iostrata lab brake node-2.rack-1 --cpu 0.5 --name three",
            "iostrata lab brake node-2 --disk 20MB/s --dirty 32MB",
            "iostrata lab brake node-2 --disk off",
            "iostrata lab brake node-2 --off",
        )
    )(brake)
    group.command(
        "exec",
        epilog=examples(
            "iostrata lab exec node-2 -- ip addr",
            "iostrata lab exec node-2 --name three -- hadoop fs -put a.txt /",
        ),
    )(execute)
    group.command(epilog=examples("iostrata lab logs", "iostrata lab logs namenode --name three"))(
        logs
    )
    group.command(epilog=examples("iostrata lab down", "iostrata lab down three"))(down)
    group.command(epilog=examples('eval "$(iostrata lab env)"'))(env)
    app.add_typer(group, name="lab")


def up(
    datanodes: Annotated[int, typer.Option(min=1, max=16, help="Number of DataNodes.")] = 1,
    nodes: Annotated[
        int,
        typer.Option(
            min=0, max=32, help="Number of nodes with a DataNode and a NodeManager (root only)."
        ),
    ] = 0,
    racks: RacksOption = 1,
    brake: BrakeOption = None,
    agent: Annotated[
        bool, typer.Option("--agent/--no-agent", help="Load the agent in daemons and containers.")
    ] = True,
    native: Annotated[
        bool, typer.Option("--native", help="Containers can record programs that are no JVM.")
    ] = False,
    name: Annotated[str, typer.Option(help="Name of the lab.")] = "hadoop",
    version: Annotated[
        str, typer.Option(help="Version of Hadoop: 3.5.0, 3.4.2 or 3.3.6.")
    ] = "3.5.0",
    conf: ConfOption = None,
    daemon_user: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=USER", help="Run the daemons of hdfs or yarn as that user (root only)."
        ),
    ] = None,
) -> None:
    """Starts HDFS and YARN as real processes on free loopback ports; ready when it returns.

    With --nodes each node has a network, a host name, a disk and a cgroup of its own.
    Hadoop comes from Maven Central on first use.
    The agent stays off until a run records, and so does what --native loads into programs that are
    no JVM, as the Python of Hadoop Streaming.
    """
    from iostrata_lab.recording import bring_up

    users = dict(_daemon_user(text) for text in daemon_user or [])
    over = dict(map(_property, conf or []))
    if native and not agent:
        raise UserError("--native with --no-agent records nothing", "leave one of them out")
    shape = _topology(nodes, racks, brake or [])
    bring_up(name, datanodes, agent, users, version, over, shape, native)
    note(f"lab {name} is ready; try: iostrata record --lab {name} -- hadoop fs -ls /")
    note(f"end it: iostrata lab down {name}")


def up_moosefs(
    nodes: Annotated[int, typer.Option(min=1, max=26, help="Number of chunk servers.")] = 3,
    racks: RacksOption = 1,
    copies: CopiesOption = 2,
    brake: BrakeOption = None,
    traced: TracedOption = True,
    yarn: YarnOption = False,
    locality: LocalityOption = "free",
    conf: ConfOption = None,
    name: Annotated[str, typer.Option(help="Name of the lab.")] = "moosefs",
) -> None:
    """Starts MooseFS with a server per node, and mounts it here and on each (root only).

    Each node has a network, a host name, a disk and a cgroup of its own.
    MooseFS comes from Debian's packages: make setup-storage.
    Its servers, and what mounts it, load what records native programs, which is off until a run
    records.
    """
    from iostrata_lab import clusters

    topology = _nodes(nodes, racks, brake)
    start = partial(clusters.up_moosefs, topology=topology, copies=copies)
    _bring_up_storage(name, start, traced, _hadoop(yarn, locality, conf))


def up_cephfs(
    nodes: Annotated[int, typer.Option(min=1, max=32, help="Number of object servers.")] = 3,
    racks: RacksOption = 1,
    copies: CopiesOption = 2,
    layout: Annotated[
        str,
        typer.Option(help="Of files: striped (64 KiB on each of 4 objects), or large."),
    ] = "striped",
    brake: BrakeOption = None,
    traced: TracedOption = True,
    yarn: YarnOption = False,
    locality: LocalityOption = "free",
    conf: ConfOption = None,
    name: Annotated[str, typer.Option(help="Name of the lab.")] = "cephfs",
) -> None:
    """Starts CephFS with a server per node, and mounts it here and on each (root only).

    Each node has a network, a host name, a disk and a cgroup of its own.
    Ceph comes from Debian's packages: make setup-storage.
    Its servers, and what mounts it, load what records native programs, which is off until a run
    records.
    """
    from iostrata_lab import clusters

    topology = _nodes(nodes, racks, brake)
    start = partial(clusters.up_cephfs, topology=topology, copies=copies, striping=layout)
    _bring_up_storage(name, start, traced, _hadoop(yarn, locality, conf))


def _hadoop(yarn: bool, locality: str, conf: list[str] | None) -> OrderedHadoop | None:
    from iostrata_lab.recording import OrderedHadoop

    if locality not in LOCALITIES:
        raise UserError(f"--locality {locality}", f"say {', '.join(LOCALITIES)}")
    if yarn:
        return OrderedHadoop(locality=locality, properties=dict(map(_property, conf or [])))
    if conf or locality != "free":
        raise UserError("--conf and --locality are Hadoop's", "say --yarn")
    return None


def _bring_up_storage(
    name: str, start: Callable[..., Lab], traced: bool, hadoop: OrderedHadoop | None
) -> None:
    from iostrata_lab.clusters.mounted import VARIABLE
    from iostrata_lab.recording import bring_up_storage

    lab = bring_up_storage(name, start, traced, hadoop)
    note(f"lab {name} is ready at {lab.environment()[VARIABLE]}")
    note(f"try: iostrata workload run {'tfidf' if hadoop else 'checkpoint'} --lab {name} --record")
    note(f"end it: iostrata lab down {name}")


def _nodes(nodes: int, racks: int, brakes: list[str] | None) -> Topology:
    from iostrata_lab import clusters
    from iostrata_lab.clusters.brakes import parse
    from iostrata_lab.recording import lab_errors

    with lab_errors():
        return clusters.Topology(nodes, racks, dict(map(parse, brakes or [])))


def _topology(nodes: int, racks: int, brakes: list[str]) -> Topology | None:
    if not nodes:
        if racks > 1 or brakes:
            raise UserError("racks and brakes are of nodes", "say how many: --nodes 3")
        return None
    return _nodes(nodes, racks, brakes)


def _property(text: str) -> tuple[str, str]:
    """`dfs.blocksize=1048576` as name and value."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UserError(f"--conf {text}: not NAME=VALUE", "for example dfs.blocksize=1048576")
    return name, value


def _daemon_user(text: str) -> tuple[str, int]:
    """`hdfs=daemon` as group and uid."""
    group, _, user = text.partition("=")
    try:
        return group, int(user) if user.isdigit() else pwd.getpwnam(user).pw_uid
    except KeyError as error:
        raise UserError(
            f"--daemon-user {text}: no user {user!r} on this machine", "see /etc/passwd"
        ) from error


def status(name: NameArgument = None, option: NameOption = None, json: JsonOption = False) -> None:
    """Shows the labs with their daemons, or one of them."""
    from iostrata_lab import clusters
    from iostrata_lab.recording import lab_errors

    chosen = name or option
    with lab_errors():
        shown = [clusters.find(chosen)] if chosen else clusters.list_labs()
        found = {lab.name: lab.status() for lab in shown}
    if json:
        print_json({lab: [_facts(daemon) for daemon in state] for lab, state in found.items()})
        return
    if not found:
        print("no labs: start one with iostrata lab up hadoop")
        return
    rows = [
        [
            lab,
            daemon.role,
            str(daemon.pid),
            "running" if daemon.alive else "ended",
            "agent" if daemon.agent else "",
            size(daemon.rss),
            " ".join(str(port) for port in daemon.ports),
        ]
        for lab, state in found.items()
        for daemon in state
    ]
    print_table(["lab", "daemon", "pid", "state", "agent", "memory", "ports"], rows, {2, 5})
    nodes = [
        [lab.name, node.name, node.rack, node.address, str(node.brake) or "none"]
        for lab in shown
        for node in lab.nodes()
    ]
    if nodes:
        print()
        print_table(["lab", "node", "rack", "address", "brakes"], nodes, set())


def _facts(daemon: DaemonStatus) -> dict[str, Any]:
    from iostrata_lab.clusters.nodes import facts

    node = facts(daemon.node) if daemon.node else None
    return {**asdict(daemon), "log": str(daemon.log), "node": node}


def brake(
    node: Annotated[str, typer.Argument(help="node-1, or node-1.rack-1.")],
    disk: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Limit reads, and writes, to these bytes/s: 20MB/s."),
    ] = None,
    disk_ops: Annotated[
        str | None, typer.Option(metavar="N", help="Limit reads, and writes, to these requests/s.")
    ] = None,
    dirty: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Limit what waits in memory for its disk: 32MB."),
    ] = None,
    net: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="Limit what it sends, and receives, to these bytes/s: 10MB/s."
        ),
    ] = None,
    cpu: Annotated[
        str | None, typer.Option(metavar="CORES", help="Limit its processes to these cores: 0.5.")
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Take all brakes away.")] = False,
    name: NameOption = None,
) -> None:
    """Slows a node of a running lab down, or releases it.

    Brakes that you do not name stay as they are; the limit `off` takes one brake away.
    The page cache is faster than any disk, so setting a disk brake empties the cache of the files
    of the node, and so does setting it again. Writes fill memory first: --dirty makes them wait.
    """
    from iostrata_lab import clusters
    from iostrata_lab.clusters.brakes import changed
    from iostrata_lab.recording import lab_errors

    texts = {"disk": disk, "disk_ops": disk_ops, "dirty": dirty, "net": net, "cpu": cpu}
    if not off and not any(texts.values()):
        raise UserError(f"no brake for {node}", "name one, as --disk 20MB/s, or --off for none")
    with lab_errors():
        found = clusters.find(name).brake(
            node, lambda was: changed(clusters.Brake() if off else was, texts)
        )
    note(f"{found.name}: {str(found.brake) or 'no brake'}")


def execute(
    node: Annotated[str, typer.Argument(help="node-1, or node-1.rack-1.")],
    words: Annotated[list[str], typer.Argument(metavar="COMMAND…", help="What to run there.")],
    name: NameOption = None,
) -> None:
    """Runs a command on a node of a lab: with its network, its disk and its brakes.

    It has the lab's environment, as `iostrata lab env` prints it.
    """
    from iostrata_lab import clusters
    from iostrata_lab.recording import lab_errors

    with lab_errors():
        lab = clusters.find(name)
        argv, environment = lab.on_node(node, words), {**os.environ, **lab.environment()}
    try:
        os.execvpe(argv[0], argv, environment)
    except OSError as error:
        raise UserError(f"{argv[0]}: {error.strerror}", "install util-linux") from None


def logs(
    daemon: Annotated[str, typer.Argument(help="namenode, datanode-1, nodemanager …")] = "",
    name: NameOption = None,
) -> None:
    """Prints the paths of a lab's logs, or the log of one daemon."""
    from iostrata_lab import clusters
    from iostrata_lab.recording import lab_errors

    with lab_errors():
        found = clusters.find(name)
        paths = [found.log_path(daemon)] if daemon else [d.log for d in found.status()]
    if not daemon:
        print("\n".join(str(path) for path in paths))
        return
    try:
        print(paths[0].read_text("utf-8", errors="replace"), end="")
    except OSError as error:
        raise UserError(f"{paths[0]}: {error.strerror}") from error


def down(name: NameArgument = None, option: NameOption = None) -> None:
    """Ends a lab: its processes, its data, its collector. Recorded runs stay."""
    from iostrata_lab.recording import take_down

    note(f"lab {take_down(name or option)} is gone; its runs stay in the store")


def env(name: NameArgument = None, option: NameOption = None) -> None:
    """Prints the environment of a lab as shell exports."""
    from iostrata_lab import clusters
    from iostrata_lab.recording import lab_errors

    with lab_errors():
        variables = clusters.find(name or option).environment()
    for variable, value in sorted(variables.items()):
        print(f"export {variable}={shlex.quote(value)}")
