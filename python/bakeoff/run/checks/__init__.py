"""What must be true of the contenders before timing, by kind of workload. A new kind adds its line to
`CHECKS`.
"""

from bakeoff.run.checks.app import AppCheck
from bakeoff.run.checks.base import Check
from bakeoff.run.checks.files import FolderCheck
from bakeoff.run.checks.mail import MailCheck
from bakeoff.run.checks.web import WebCheck

CHECKS: dict[str, type[Check]] = {
    "web": WebCheck,
    "mail": MailCheck,
    "app": AppCheck,
    "file-matrix": FolderCheck,
    "file-blocks": FolderCheck,
    "file-mix": FolderCheck,
}
