"""Planted keys: each is gone, and what is no secret stays."""

from __future__ import annotations

import pytest

from bakeoff.core.redact import HIDDEN, hidden, without_secrets

PLANTED = [
    "password = hunter2planted",
    "PGPASSWORD=hunter2planted psql",
    "DB_PASSWORD_MAIN: 'hunter2 planted'",
    'ldap_bindpw "hunter2planted"',
    '{"api_key": "hunter2planted"}',
    "aws_secret_access_key=hunter2planted",
    "Authorization: Bearer hunter2planted",
    "curl -H 'X-Auth-Token: hunter2planted'",
    "mysql --password hunter2planted",
    "mysql --password=hunter2planted",
    "requirepass hunter2planted",
    "  password hunter2planted;",
    "ldap://cn=admin:hunter2planted@ldap.example/",
    "postgres://user:hunter2planted@db/x",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2planted\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2planted cut off",
    "root:$6$hunter2planted$abcdefghijklmnop:19000",
    "ghp_hunter2planted0123456789",
    "AKIA0123456789ABCDEF and hunter2".replace("hunter2", ""),
    "eyJhbGciOiJIUzI1.eyJodW50ZXIy.hunter2planted",
    "wpa_psk=hunter2planted",
    "Set-Cookie: hunter2planted",
    "AuthLDAPBindPassword hunter2planted",
    '    AuthLDAPBindPassword "hunter2 planted"',
    'proxy_set_header Authorization "Basic hunter2planted==";',
    "Authorization: Basic hunter2planted==",
    "fastcgi_param DB_PASS_X 1; db_pass=hunter2planted",
    "  auth_token hunter2planted;",
    "rocommunity hunter2planted",
    "alice:{SSHA512.b64}hunter2planted==:1000:1000::/home",
    "alice:{PLAIN}hunter2planted",
    "bob:{SHA}hunter2planted=",
    "carol:$apr1$hunter2$planted0123456789",
    "dave:abplanted.123",
    "[smtp.example.org]:587 user@example.org:hunter2planted",
    "smtp_sasl_password_maps = static:user:hunter2planted",
    "smtp_sasl_password_maps = inline:{[smtp.example.org]:587=user:hunter2planted}",
    "hide mysql_servers = localhost/db/user/hunter2planted",
    "  client_send = ^user^hunter2planted",
    "CREATE USER x IDENTIFIED BY 'hunter2 planted'",
    "connect = host=db dbname=mail password=hunter2planted",
    "//nas/share /mnt cifs username=a,password=hunter2planted,uid=0 0 0",
    "redis://:hunter2planted@cache:6379/0",
    "PresharedKey = hunter2planted",
    "AIzahunter2planted01234567890123456789012",
    "AccountKey=hunter2planted==;EndpointSuffix=x",
    "http://127.0.0.1/a?page=1&token=hunter2planted",
    "http://127.0.0.1/a?api_key=hunter2planted&x=1",
    "https://bucket.example/o?X-Amz-Signature=hunter2planted",
    "/a?sig=hunter2planted#top",
    "curl -s -u admin:hunter2planted http://127.0.0.1/reset",
    "curl --user=admin:hunter2planted http://127.0.0.1/reset",
    "mysql -h db -u root -phunter2planted -e 'truncate t'",
    "mysqladmin -phunter2planted flush-hosts",
    "sshpass -p hunter2planted ssh host restart",
    "redis-cli -h cache -a hunter2planted flushall",
    "ldapsearch -x -w hunter2planted",
    "curl -H 'X-Session: hunter2planted' http://127.0.0.1/",
]
PLAIN = [
    "The first pass: 12 %, the second 13 %.",
    "Password protection was off.",
    "ssl_certificate /etc/nginx/cert.pem;",
    "worker_connections 4096;",
    "https://example.org:8443/path?x=1@2",
    "8 tokens of each user",
    "4 × 600 GB 10k SAS, RAID 10",
    "key_buffer_size = 256M",
    "proxy_pass http://backend:8080;",
    "server_tokens off;",
    "ServerTokens Prod",
    "listen 127.0.0.1:80;",
    "auth_basic_user_file /etc/nginx/users;",
    "net.ipv4.tcp_syncookies = 1",
    "[mysqld]",
    "smtpd_sasl_auth_enable = yes",
    "include /etc/nginx/conf.d/*.conf;",
    "hosts: files dns",
    "bypass = on",
    "http://127.0.0.1/a?page=1&size=20&keyboard=qwerty",
    "curl -H 'Accept: text/html' http://127.0.0.1/",
    "mysql -u root -e 'truncate t'",
    "du -u 10:20",
]


@pytest.mark.parametrize("text", PLANTED)
def test_a_planted_key_is_hidden(text: str) -> None:
    for given in (text, f"before\n{text}\nafter", {"notes": [text]}):
        made = str(without_secrets(given))
        assert "planted" not in made and "AKIA" not in made and HIDDEN in made, made
    assert without_secrets(without_secrets(text)) == without_secrets(text), "once is enough"
    assert "before" in without_secrets(f"before\n{text}")


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_names_of_tables_count_and_shapes_stay() -> None:
    made = without_secrets({"admin_password": "x", "list": ("a", {"token": ["y"]}), "n": 3})
    assert made == {"admin_password": HIDDEN, "list": ("a", {"token": HIDDEN}), "n": 3}


def test_a_command_of_a_plan_keeps_no_password() -> None:
    made = hidden({"contenders": [{"reset": "mysql --password hunter2planted < load.sql", "name": "--password x"}]})
    assert made == {"contenders": [{"reset": f"mysql --password {HIDDEN} < load.sql", "name": "--password x"}]}


def test_a_setting_of_the_kernel_is_no_cookie() -> None:
    assert without_secrets({"net.ipv4.tcp_syncookies": "1"}) == {"net.ipv4.tcp_syncookies": "1"}


def test_long_texts_are_read_once() -> None:
    """Each rule is bounded: a text that were read over and over would not end before the watchdog."""
    for part in (
        "1",
        "a-",
        "-----BEGIN PRIVATE KEY-----",
        "a://",
        "--a-",
        "password",
        "$1$",
        "'\"",
        "eyJaaaaaaaaa.",
        "{SHA}",
        "static:",
        "[a",
        "hide ",
        "\n ",
        "pass",
        "a:",
    ):
        without_secrets(part * (200_000 // len(part)))


def test_headers_of_a_plan_are_hidden_unless_their_names_are_harmless() -> None:
    plan = {"settings": {"headers": ["X-Session: hunter2planted", "Accept: text/html", "X-Tenant: planted"]}}
    assert hidden(plan) == {"settings": {"headers": ["X-Session: (hidden)", "Accept: text/html", "X-Tenant: (hidden)"]}}
    assert hidden({"headers": {"X-Session": "planted", "Accept": "a"}}) == {
        "headers": {"X-Session": HIDDEN, "Accept": "a"}
    }


def test_values_of_queries_are_hidden_in_every_text_of_a_plan() -> None:
    plan = {"contenders": [{"address": "http://h/?token=planted"}], "settings": {"urls": [{"path": "/a?sig=planted"}]}}
    assert "planted" not in str(hidden(plan)) and "/a?sig=(hidden)" in str(hidden(plan))
