# https://github.com/kubernetes/autoscaler/pull/6677, first in 1.28.5, 1.29.3 and 1.30.0.

@cluster-autoscaler @hetzner @issue-6677
Feature: Options that a cloud does not have are no error

  @hetzner-6677-options-error
  Scenario: A pod needs a server
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "optionless" of 0 to 3 servers of type "cx22" in "fsn1"
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And this holds:
      """
      ever: true
      never: {source: log, verb: error, actor: cluster-autoscaler, detail: {message: {contains: "Couldn't get autoscaling options for ng: optionless"}}}
      """
