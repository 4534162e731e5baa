"""In which Kubernetes pod a server runs, as far as its node, or the pod itself, tells."""

import re
from dataclasses import dataclass

from ppagent.targets.remote.sections import Sections
from ppagent.targets.remote.servers import Server

_LOGS = "/var/log/containers"
_NAME = re.compile(
    r"(?P<pod>[a-z0-9.-]+)_(?P<namespace>[a-z0-9-]+)_(?P<container>[a-z0-9-]+)-(?P<id>[0-9a-f]{64})\.log"
)
"""How the kubelet names the links to its containers' logs."""


@dataclass(frozen=True)
class Pod:
    """A pod and the container in it; what is not known is empty."""

    name: str
    namespace: str
    container: str = ""
    log: str = ""
    """Its log on the node."""

    @property
    def command(self) -> str:
        """What gives its log."""
        words = f"kubectl logs -n {self.namespace or 'NAMESPACE'} {self.name or 'POD'}"
        return f"{words} -c {self.container}" if self.container else words


def pod_of(server: Server, survey: Sections) -> Pod | None:
    """The pod of a server; None where it runs in none, or in one that docker keeps."""
    launcher = server.launcher
    in_pod = "kubepods" in launcher.groups or "KUBERNETES_SERVICE_HOST" in launcher.env
    if not in_pod or server.engine:
        return None
    listed = survey["pods"].text if "pods" in survey else ""
    for match in _NAME.finditer(listed):
        if server.container and match["id"].startswith(server.container):
            return Pod(match["pod"], match["namespace"], match["container"], f"{_LOGS}/{match[0]}")
    return Pod(launcher.env.get("HOSTNAME", ""), launcher.namespace)
