# SPDX-License-Identifier: MIT
# Sourced by cli/costs.sh and bench/costs.sh: what a run of the program costs, with all its processes.
# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # set and used by these scripts; commands in words
# $program is the program, $cpu_time tests/bench/cpu-time. Files are made in the current directory.

# The commands and options of the tables. $function is a function of the recording.
costs_rows() {
	cat <<-END
		why
		why --symbol=$function
		diff
		-f functions
		-f folded
		-f html
		-f sqlite
		-f lcov
		--slowest=100
		--depth=3
		--min-duration=1us
		--within=$function>p99
		--fit=1000
		--fit=10000
	END
}

# Print the words of a row as a command: diff has the recording twice.
costs_command() { # RECORDING OPTIONS...
	recording=$1
	shift
	words="-q --no-warn -j1 $recording"
	case ${1-} in
	diff) set -- "$@" $words "$recording" -o out ;;
	why) set -- "$@" $words -o out ;;
	-f | --slowest*) set -- $words "$@" -o out ;;
	*) set -- $words "$@" -o out.ftf ;;
	esac
	echo "$program" "$@" ${symfs:+--symfs="$symfs"}
}

# Print the page faults without I/O, the peak memory (kB) and the CPU time (s).
costs_usage() { # COMMAND...
	rm -f out out.ftf
	"$cpu_time" usage "$@" >/dev/null 2>usage.messages && [ -s out ] || [ -s out.ftf ] || return 1
	awk '{ print $4, $3, $1 }' usage
}

# Print the system calls, and the bytes of files without names, which strace(1) shows by inode.
costs_calls() { # COMMAND...
	strace -f -y -o trace "$@" >/dev/null 2>&1
	awk '/^[0-9]+ +[a-z0-9_]+\(/ { calls++ }
		match($0, /#[0-9]+>/) { file = substr($0, RSTART, RLENGTH) }
		/^[0-9]+ +fallocate\([0-9]+<[^>]*#[0-9]+>/ {
			sub(/ <unfinished.*|\) += .*/, "")
			if ($NF + 0 > size[file])
				size[file] = $NF + 0
		}
		/^[0-9]+ +writev?\([0-9]+<[^>]*#[0-9]+>/ && $NF > 0 { size[file] += $NF }
		/^[0-9]+ +pwrite64\([0-9]+<[^>]*#[0-9]+>/ && $NF > 0 && $(NF - 2) + $NF > size[file] { size[file] = $(NF - 2) + $NF }
		END {
			for (file in size)
				bytes += size[file]
			print calls + 0, bytes + 0
		}' trace
}

# Print the instructions. The sandbox would refuse valgrind's own calls.
costs_instructions() { # COMMAND...
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" --sandbox=off 2>&1 >/dev/null |
		awk '/Collected *:/ { n += $NF } END { print n + 0 }'
}
