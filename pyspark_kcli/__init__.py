"""Where Spark finds `format("kcli")` by itself: it imports every top-level package named pyspark_*. It must not raise,
because that would break every Python data source; where pyspark is too old there is simply none."""

try:
    from kcli.pipeline.data_source import KcliDataSource as DefaultSource
except ImportError:
    pass
else:
    __all__ = ["DefaultSource"]
