# The beginning of a server's last launch and the end of its log: a line of sizes, then the two pieces.
# Arguments: kind, name, seconds since the start, most bytes of the beginning, most bytes of the end.
LC_ALL=C; export LC_ALL
k=$1 f=$2 age=$3 h=$4 t=$5
case $k in
  docker)
    docker inspect -f . "$f" >/dev/null || exit
    echo "piped 0 0 $h"
    docker logs "$f" 2>&1 | { head -c "$h"; tail -c "$t"; }
    exit ;;
  journal)
    command -v journalctl >/dev/null || { echo "journalctl is not there" >&2; exit 1; }
    [ "$age" -gt 0 ] && since="-S-${age}s" || since=-b
    echo "piped 0 0 $h"
    journalctl -q --no-pager -o cat -u "$f" "$since" | { head -c "$h"; tail -c "$t"; }
    exit ;;
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
