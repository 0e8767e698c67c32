"""Values as words: numbers, times, statuses, names fit for a terminal."""
