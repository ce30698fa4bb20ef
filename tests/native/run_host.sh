#!/bin/bash
# run_host.sh COMMAND [ARGS...]: runs a program of this machine as a test.
exec "$@"
