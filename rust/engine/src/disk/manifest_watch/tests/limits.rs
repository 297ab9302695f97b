//! Every change is noticed by polling where a limit of the system leaves no events.

use std::{env, process::Command};

use super::{WITHOUT_EVENTS, assert_passes};

/// Every change is noticed in a user namespace where a limit is zero.
fn assert_noticed_with_limit_of_zero(limit: &str) {
    assert!(env::var_os(WITHOUT_EVENTS).is_none(), "a test must not run itself");
    let in_namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c"]);
        command.arg(format!("echo 0 > /proc/sys/user/{limit} && {script}"));
        command
    };
    // Not every machine allows user namespaces.
    if in_namespace("true").output().is_ok_and(|output| output.status.success()) {
        let this = env::current_exe().expect("this is a program");
        let tests = "exec \"$0\" disk::manifest_watch::tests::changes::";
        assert_passes(in_namespace(tests).arg(this).env(WITHOUT_EVENTS, "1"));
    }
}

#[test]
fn every_change_is_noticed_without_an_inotify_instance() {
    assert_noticed_with_limit_of_zero("max_inotify_instances");
}

#[test]
fn every_change_is_noticed_without_an_inotify_watch() {
    assert_noticed_with_limit_of_zero("max_inotify_watches");
}
