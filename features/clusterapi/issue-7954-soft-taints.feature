# https://github.com/kubernetes/autoscaler/pull/7954, first in 1.30.5, 1.31.3, 1.32.2 and 1.33.0.

@cluster-autoscaler @clusterapi @issue-7954
Feature: A node that is needed again says so at once

  @clusterapi-7954-soft-taint-stays
  Scenario: A pod comes to a node that was not needed, right after another group was scaled
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 2 of them Running
    And these node groups:
      | name  | min | max | type  |
      | large | 1   | 3   | cpx41 |
    And a pod "a" that requests 7 CPU is Running
    And a pod "b" that requests 3 CPU is Running
    And Cluster Autoscaler for Cluster API
    When this is recorded:
      """
      source: api
      resource: nodes
      actor: cluster-autoscaler
      verb: [update, patch]
      detail: {added: {exists: true}}
      """
    And a pod "c" that requests 6 CPU is created
    And the scenario waits for 2m
    And a pod "d" that requests 3 CPU is created
    Then this holds within 3m:
      """
      happens: {source: api, resource: nodes, actor: cluster-autoscaler, detail: {removed: {exists: true}}}
      """
