# https://github.com/kubernetes/autoscaler/issues/8013

@cluster-autoscaler @hetzner @issue-8013
Feature: A server that starts is kept

  Cluster Autoscaler waits for the actions of a new server as long as
  HCLOUD_SERVER_CREATION_TIMEOUT says, five minutes by default, and deletes a server
  that has not started by then. It must not delete one that has.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"

  @hetzner-8013-poll-window
  Scenario: A server that runs 100 seconds before the timeout
    Given every action "start_server" in the cloud takes 2m14s
    And the target has the environment variables:
      | HCLOUD_SERVER_CREATION_TIMEOUT | 4 |
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then 15m from now, a server of a node group has been running since the start, and no running server has been deleted
    And the pod "web" is Running within 1m

  @hetzner-8013-poll-cap
  Scenario: A server that runs 40 seconds before a timeout of two minutes
    Given every action "start_server" in the cloud takes 70s
    And the target has the environment variables:
      | HCLOUD_SERVER_CREATION_TIMEOUT | 2 |
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then 15m from now, a server of a node group has been running since the start, and no running server has been deleted
    And the pod "web" is Running within 1m

  @hetzner-8013-default-timeout
  Scenario: A server that takes six minutes, with the default timeout
    Given every action "start_server" in the cloud takes 6m
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 15m

  @hetzner-8013-longer-timeout
  Scenario: A server that takes six minutes, with a timeout of ten
    Given every action "start_server" in the cloud takes 6m
    And the target has the environment variables:
      | HCLOUD_SERVER_CREATION_TIMEOUT | 10 |
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 15m

  @hetzner-8013-no-back-off
  Scenario: A call that takes five minutes to fail
    Given the first call "create servers" to the cloud is not answered, for 8m
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then this holds within 20m:
      """
      sequence:
        - as: failed
          match: {source: api, verb: create, resource: events, actor: cluster-autoscaler, detail: {reason: FailedToScaleUpGroup}}
        - as: left alone
          absent:
            - {source: log, verb: plan, resource: nodegroups, actor: cluster-autoscaler}
          for: 290s
      """
    And the pod "web" is Running within 10m
