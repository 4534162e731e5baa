# The beginning of a server's last launch and the end of its log: a line of sizes, then the two pieces.
# Arguments: kind, name, when the server was started (seconds since the host was), most bytes of the beginning, most bytes of
# the end, and what more the kind needs: a journal the field of the unit, and `hidden` where it is not known that the log
# goes there; a pod its log on the node, its namespace, its name and its container.
LC_ALL=C; export LC_ALL
k=$1 f=$2 start=$3 h=$4 t=$5
ends() { echo "piped 0 0 $h"; "$@" | { head -c "$h"; tail -c "$t"; }; exit; }
both() { "$@" 2>&1; }
may_read_journal() {
  for j in /var/log/journal/*/system.journal /run/log/journal/*/system.journal; do [ -e "$j" ] && [ ! -r "$j" ] && return 1; done
  return 0
}
# The file that a unit of the system writes its errors to: told to everybody, unlike what a process of another has open.
unit_file() {
  systemctl cat -- "$1" 2>/dev/null | awk '/^Standard(Error|Output)=/ { n = index($0, "="); v[substr($0, 1, n - 1)] = substr($0, n + 1) }
    END { e = v["StandardError"]; if (e == "" || e == "inherit") e = v["StandardOutput"]; if (sub(/^(append|file|truncate):/, "", e)) print e }'
}
unwrapped() { awk '{ p = $3 == "P"; sub(/^[^ ]+ [^ ]+ [FP] /, ""); printf "%s%s", $0, p ? "" : "\n" }' "$1"; }
# kubectl writes its cache nowhere.
kube() { timeout -k 1 60 kubectl --cache-dir=/dev/null "$@"; }
case $k in
  docker | podman)
    # A container that was started again keeps the logs of every start. Where they are more than is read,
    # the last counts: from the end before it on, since engines note a start after the first lines.
    # An engine that keeps no log of it says so on standard error, which is none of the log's.
    e=$("$k" logs --tail 0 "$f" 2>&1 >/dev/null) || {
      d=$("$k" inspect -f '{{.HostConfig.LogConfig.Type}}' "$f" 2>/dev/null)
      echo "$e${d:+ (its log driver is $d)}" >&2; exit 1
    }
    since=$("$k" inspect -f '{{json .State.FinishedAt}}' "$f") || exit
    since=${since#\"} since=${since%\"} since=${since##0001-*}
    [ "$(both "$k" logs "$f" | head -c "$((h + t + 1))" | wc -c)" -gt "$((h + t))" ] || since=
    ends both "$k" logs ${since:+--since "$since"} "$f" ;;
  pod)
    l=$6 s=$7 p=$8 c=$9
    [ -n "$l" ] && [ -r "$l" ] && ends unwrapped "$l"
    command -v kubectl >/dev/null || { echo "kubectl is not there${l:+, and $l may not be read}" >&2; exit 1; }
    if [ -n "$f" ] && [ -z "$c" ]; then
      set -- $(kube get pods -A --field-selector "spec.nodeName=$(uname -n)" -o 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{range .status.containerStatuses[*]} {.name}={.containerID}{end}{"\n"}{end}' |
        awk -v id="$f" '{ for (i = 3; i <= NF; i++) if (index($i, id)) { sub(/=.*/, "", $i); print $1, $2, $i } }')
      s=${1:-$s} p=${2:-$p} c=${3:-$c}
    fi
    [ -n "$p" ] || { echo "its pod is not known" >&2; exit 1; }
    ends kube logs ${s:+-n "$s"} "$p" ${c:+-c "$c"} ;;
  journal)
    if [ "$6$7" = _SYSTEMD_UNIThidden ] && p=$(unit_file "$f") && [ -n "$p" ]; then
      [ -r "$p" ] || { echo "its unit writes it to $p, which may not be read; \`sudo cat $p\` would give it" >&2; exit 1; }
      f=$p
    else
      command -v journalctl >/dev/null || { echo "journalctl is not there" >&2; exit 1; }
      read -r up _ </proc/uptime
      [ "$start" -gt 0 ] && since="-S-$((${up%.*} - start + 5))s" || since=-b
      # Told only where nothing comes: journalctl is silent about both; what it does complain of comes later and counts.
      if may_read_journal; then echo "the journal holds nothing of it"; else echo "Permission denied: the journal is for root and the groups systemd-journal and adm"; fi >&2
      ends journalctl -q --no-pager -o cat "$since" "$6=$f"
    fi ;;
esac
n=$(stat -Lc %s -- "$f") || exit
[ -r "$f" ] || { echo "Permission denied" >&2; exit 1; }
b=0
if [ "$n" -gt $((h + t)) ]; then
  b=$(timeout 20 grep -abo 'server_args=' -- "$f" | tail -n 1 | cut -d: -f1)
  b=$((${b:-0} - 200)); [ "$b" -lt 0 ] && b=0
fi
[ $((n - b)) -le $((h + t)) ] && h=$((n - b))
echo "file $n $b $h"
tail -c "+$((b + 1))" -- "$f" | head -c "$h"
[ $((n - b)) -gt "$h" ] && tail -c "$t" -- "$f"
exit 0
