"""A Spark session: Java, the JVM, its logs, kcli's code on executors."""
