"""A topic into an Iceberg table every ten minutes, by Airflow 2.4 or later: a task runs `kcli pipeline export --once`.
Airflow 3 has the operator in `airflow.providers.standard.operators.bash`.

The tests read this file and its command line; they do not run it, because they have no Airflow. The worker needs
`pip install 'kcli-kafka[spark,spark-java,iceberg]'`.
"""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

EXPORT = """
kcli pipeline export orders raw.orders
  --file-format iceberg --catalog prod
  --once --name orders --checkpoint /state/orders
  --profile prod --metrics /state/orders.ndjson --quiet
"""

with DAG(
    dag_id="orders_to_lake",
    start_date=datetime(2026, 1, 1),
    schedule="*/10 * * * *",
    catchup=False,  # a run reads what came since the last one, whatever its date
    max_active_runs=1,  # one run at a time has the checkpoint
    default_args={"retries": 2, "retry_delay": timedelta(minutes=1)},  # a batch is in the table once
) as dag:
    BashOperator(
        task_id="export",
        bash_command=" ".join(EXPORT.split()),
        execution_timeout=timedelta(hours=1),
        append_env=True,
    )
