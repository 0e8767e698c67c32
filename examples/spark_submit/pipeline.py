"""`kcli pipeline` as a program of spark-submit, which takes the driver to the cluster with --deploy-mode cluster. kcli
is installed in the driver's Python.

spark-submit --master k8s://https://HOST --deploy-mode cluster local:///app/pipeline.py export orders s3://lake/orders …
"""

import sys

from kcli.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["pipeline", *sys.argv[1:]]))
