# One look at a host: the processes of SGLang servers and what the machine is. Reads only.
# Argument: seconds over which the use of the processor is measured.
servers() {
  for f in $(grep -lazE '[s]glang(::|\.launch_server|\.cli\.main)|[l]aunch_server\.py|(^|/)[s]glang$' /proc/[0-9]*/cmdline 2>/dev/null); do
    p=${f#/proc/}; p=${p%/cmdline}; echo "$p"
    tr '\0' ' ' <"$f" 2>/dev/null | grep -q '^[s]glang::' && sed -n 's/^.*) . \([0-9]*\) .*/\1/p' "/proc/$p/stat" 2>/dev/null
  done | sort -un | grep -vx 1
}
P=$(servers)
of() { n=$1; for p in $P; do echo "/proc/$p/$n"; done; }
# The engine and the container of a process, where this account may ask the engine: podman keeps containers for one account,
# and for any other it makes folders.
keeper() {
  k=$(sed -nE 's#.*(docker|libpod)[-/](payload-)?([0-9a-f]{64}).*#\1 \3#p' "/proc/$1/cgroup" 2>/dev/null | head -n 1)
  case $k in
    docker*) echo "$k" ;;
    libpod*)
      o=$(sed -nE 's#.*/user-([0-9]+)\.slice/.*libpod.*#\1#p' "/proc/$1/cgroup" | head -n 1)
      [ "${o:-0}" = "$(id -u)" ] && echo "podman ${k#* }" ;;
  esac
}
K=$(for p in $(grep -LazE '^sglang::' $(of cmdline) /dev/null 2>/dev/null | sed -n 's#^/proc/\([0-9]*\)/.*#\1#p'); do
  k=$(keeper "$p") && [ -n "$k" ] && echo "$p $k"
done)
ask() { timeout -k 1 10 "$@" </dev/null; }
# What may not be read of a server is asked in its container: its number out here, engine, container, its number in there.
hidden() {
  echo "$K" | while read -r p e c; do
    [ -n "$p" ] && [ ! -r "/proc/$p/environ" ] && echo "$p $e $c $(sed -n 's/^NSpid:.*[^0-9]//p' "/proc/$p/status")"
  done
}
ticks() { cat /proc/uptime; getconf CLK_TCK; cat $(of stat) /dev/null; }
tasks() { cat /proc/uptime; for p in $P; do for t in "/proc/$p/task/"*; do printf '%s ' "$p"; cat "$t/stat"; done; done; }
words() { grep -azH '' $(of cmdline) /dev/null; }
every_variable() {
  grep -azH '' $(of environ) /dev/null
  hidden | while read -r p e c n; do ask "$e" exec "$c" cat "/proc/$n/environ" | sed -z "s#^#/proc/$p/environ:#"; done
}
variables() {
  every_variable | grep -azE '^/proc/[0-9]*/environ:((CUDA|NCCL|SGLANG|SGL|OMP|MKL|KMP|GOMP|TORCH|PYTORCH|TRITON|FLASHINFER|NVIDIA|NVSHMEM|UCX|GLOO|MASTER|VLLM|HF|HUGGINGFACE|TRANSFORMERS|MOONCAKE|MC|ROCM|HIP|HSA|DG|DEEPGEMM|LD|MALLOC|PYTHON)_?[A-Z0-9_]*=|(HOME|PATH|VIRTUAL_ENV|CONDA_PREFIX|XDG_CACHE_HOME|HOSTNAME|KUBERNETES_SERVICE_HOST)=)' |
    sed -zE 's/^([^=]*(TOKEN|KEY|SECRET|PASSW|CREDENTIAL|COOKIE|AUTH)[A-Za-z0-9_]*)=.*/\1=[masked]/'
}
links() {
  find $(of exe) $(of cwd) /proc/[0-9]*/fd/0 /proc/[0-9]*/fd/1 /proc/[0-9]*/fd/2 /proc/[0-9]*/fd/3 -maxdepth 0 -printf '%p\t%l\0' 2>/dev/null
  for p in $P; do find "/proc/$p/fd" -lname 'socket:*' -printf '%p\t%l\0'; done
  hidden | while read -r p e c n; do
    ask "$e" exec "$c" sh -c 'printf "/proc/$1/within\t$2\0"; for f in exe cwd fd/0 fd/1 fd/2 fd/3; do
      printf "%s\t%s\0" "/proc/$1/$f" "$(readlink "/proc/$2/$f")"; done' sh "$p" "$n"
  done
}
listening() { for p in self $P; do cat "/proc/$p/net/tcp" "/proc/$p/net/tcp6" 2>/dev/null; done | awk '$4 == "0A" { print $2, $10 }' | sort -u; }
owners() { stat -c '%n %U %u' $(of .) /dev/null; }
status() { grep -HE '^(Cpus_allowed_list|NSpid):' $(of status) /dev/null; }
# The first process of each namespace of its own: what a container was started with.
firsts() { grep -lE '^NSpid:.*[0-9].*[^0-9]1$' /proc/[0-9]*/status 2>/dev/null; }
# Ports of the host that lead into containers: everybody sees how docker's forwarders were started; the engines know them all.
ports() {
  ps -A -ww -o args= | grep '^[^ ]*docker-[p]roxy '
  echo "$K" | cut -s -d ' ' -f 2 | sort -u | while read -r e; do ask "$e" ps --no-trunc --format '{{.ID}} {{.Names}} {{.Ports}}'; done
}
# Where no server runs: the containers that ran one. Podman is asked by root alone, since it leaves a process behind for any other.
ended() {
  [ -z "$P" ] || return 0
  for e in docker podman; do
    case $e in
      docker) [ -w "$(echo "${DOCKER_HOST:-/var/run/docker.sock}" | sed 's#^unix://##')" ] ;;
      podman) [ "$(id -u)" = 0 ] && [ -d /var/lib/containers/storage ] ;;
    esac && command -v "$e" >/dev/null &&
      ask "$e" ps -a --no-trunc --format "$e {{.Names}}	{{.Status}}	{{.Command}}" | grep -E 'sglang(\.|:| serve)|launch_server' | grep -v '	Up ' | head -n 5
  done
}
groups() { grep -H '' $(of cgroup) /dev/null; }
addresses() {
  for p in self $P; do awk -v p="$p" '/32 host LOCAL/ && a !~ /^127\./ { print "/proc/" p "/net:" a } { a = $2 }' "/proc/$p/net/fib_trie" | sort -u; done
}
pods() {
  for p in $P; do
    n=$(cat "/proc/$p/root/var/run/secrets/kubernetes.io/serviceaccount/namespace" 2>/dev/null) && echo "/proc/$p/namespace:$n"
  done
  ls -1 /var/log/containers
}
governors() { cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor | sort | uniq -c | sort -rn; }
memory() { grep -E '^(MemTotal|MemAvailable):' /proc/meminfo; }
iommu() { ls /sys/class/iommu | head -n 64; }
acs() { [ "$(id -u)" = 0 ] && lspci -vv 2>/dev/null | grep -c 'ACSCtl:.*SrcValid+'; }
smi() { timeout -k 1 15 nvidia-smi "$@"; }
# What dmesg gives may begin long after the boot, as containers fill its room with lines of their own: then the journal.
kernel_log() {
  case $(dmesg 2>/dev/null | head -n 1) in
    *'[    0.0'*) dmesg ;;
    *) journalctl -k -b -q --no-pager -o short-iso | grep -a . || dmesg ;;
  esac | {
    sed -n '1p;/NVRM\|Xid\|AER\|PCIe Bus\|IOMMU\|iommu\|DMAR\|AMD-Vi\|ECC\|EDAC\|mce:\|Hardware Error\|ommand line\|nvswitch\|fallen off\|link is down\|pciehp\|remap\|ACS\|downgraded\|limited by/p' | tail -n 2000
  }
}
s who id -un
s name uname -n
s words words
s ticks1 ticks
s tasks1 tasks
s tree ps -A -o pid= -o ppid= -o comm=
s owners owners
s variables variables
s links links
s listening listening
s uid id -u
s status status
s firsts firsts
s groups groups
s ports ports
s ended ended
s addresses addresses
s pods pods
s cpu lscpu
s load cat /proc/loadavg
s memory memory
s kernel uname -r
s boot cat /proc/cmdline
s governors governors
s nodes cat /sys/devices/system/node/online
s balancing cat /proc/sys/kernel/numa_balancing
s shm df -Pk /dev/shm
s iommu iommu
s acs acs
s gpus smi --query-gpu=index,uuid,pci.bus_id,name,driver_version --format=csv,noheader
s topology smi topo -m
s smi smi
s kernel_log kernel_log
sleep "${1:-1}"
s ticks2 ticks
s tasks2 tasks
