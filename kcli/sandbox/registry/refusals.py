"""Why a registry refuses: HTTP's status, the code that Confluent's registry gives (`rest/exceptions/Errors.java`), and
a sentence."""

from __future__ import annotations


class Refused(Exception):
    """The answer to a request that is not done."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def no_subject(subject: str) -> Refused:
    return Refused(404, 40401, f"Subject '{subject}' not found.")


def no_version(version: int | str) -> Refused:
    return Refused(404, 40402, f"Version {version} not found.")


def no_schema() -> Refused:
    return Refused(404, 40403, "Schema not found")


def subject_deleted(subject: str) -> Refused:
    text = f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently"
    return Refused(404, 40404, text)


def subject_not_deleted(subject: str) -> Refused:
    return Refused(404, 40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_deleted(subject: str, version: int) -> Refused:
    text = f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently"
    return Refused(404, 40406, text)


def version_not_deleted(subject: str, version: int) -> Refused:
    text = f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    return Refused(404, 40407, text)


def no_level(subject: str) -> Refused:
    text = f"Subject '{subject}' does not have subject-level compatibility configured"
    return Refused(404, 40408, text)


def no_mode(subject: str) -> Refused:
    return Refused(404, 40409, f"Subject '{subject}' does not have subject-level mode configured")


def incompatible(subject: str, messages: list[str]) -> Refused:
    text = f'Schema being registered is incompatible with an earlier schema for subject "{subject}"'
    return Refused(409, 409, f"{text}, details: [{', '.join(messages)}]")


def bad_schema(problem: str) -> Refused:
    return Refused(422, 42201, f"Invalid schema: {problem}")


def bad_version(given: str) -> Refused:
    text = "it must be an integer between 1 and 2^31-1, or 'latest' or -1"
    return Refused(422, 42202, f"The specified version '{given[:80]}' is not a valid version id: {text}")


def bad_level() -> Refused:
    levels = "NONE, BACKWARD, FORWARD, FULL, BACKWARD_TRANSITIVE, FORWARD_TRANSITIVE and FULL_TRANSITIVE"
    return Refused(422, 42203, f"Invalid compatibility level. Valid values are {levels}")


def bad_mode() -> Refused:
    return Refused(422, 42204, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE and IMPORT")


def not_permitted(problem: str) -> Refused:
    return Refused(422, 42205, problem)


def referred_to(subject: str, version: int) -> Refused:
    return Refused(422, 42206, f"One or more references exist to the schema '{subject}' version {version}")


def other_id(id: int) -> Refused:
    return Refused(422, 42207, f"Overwrite new schema with id {id} is not permitted.")


def bad_subject(subject: str) -> Refused:
    return Refused(422, 42208, f"The specified subject '{subject[:80]}' is not a valid subject.")


def too_large(problem: str) -> Refused:
    return Refused(422, 42209, problem)


def context_not_empty(context: str) -> Refused:
    return Refused(422, 42211, f"The specified context '{context}' is not empty.")


def associated(part: str, resource: str) -> Refused:
    return Refused(409, 40911, f"An association of type '{part}' already exists for resource '{resource}'")


def no_association(resource: str) -> Refused:
    return Refused(404, 404, f"No association found for resource '{resource}'")


def bad_association(problem: str) -> Refused:
    return Refused(422, 42212, f"The association specified is invalid: {problem}")


def malformed(problem: str) -> Refused:
    return Refused(400, 400, problem)


def no_such_request() -> Refused:
    return Refused(404, 404, "HTTP 404 Not Found")
