# https://github.com/kubernetes/autoscaler/pull/8219, first in 1.33.0.

@cluster-autoscaler @externalgrpc @issue-8219
Feature: A node is drained in the order that was asked for

  @externalgrpc-8219-drain-order
  Scenario: A pod that takes 40s to stop, and one of a higher priority
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name    | type   | min | max |
      | workers | medium | 0   | 3   |
    And Cluster Autoscaler with the flags:
      | --drain-priority-config | 0:60,1000:30 |
    And a pod "a" that requests 3 CPU is Running
    And a pod "b" that requests 2 CPU is Running
    And these objects:
      """
      apiVersion: scheduling.k8s.io/v1
      kind: PriorityClass
      metadata: {name: high}
      value: 1000
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web-plain}
      spec:
        selector: {matchLabels: {app: plain}}
        template:
          metadata: {labels: {app: plain}, annotations: {nodestorm.sim/stop-after: 40s}}
          spec:
            terminationGracePeriodSeconds: 60
            containers: [{name: plain, image: plain, resources: {requests: {cpu: 200m}}}]
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web-high}
      spec:
        selector: {matchLabels: {app: high}}
        template:
          metadata: {labels: {app: high}}
          spec:
            priorityClassName: high
            containers: [{name: high, image: high, resources: {requests: {cpu: 200m}}}]
      """
    And "node" has ever recorded "running" of "pods" 4 times
    And "Pod/b" is deleted
    When this is recorded:
      """
      source: api
      verb: create
      resource: events
      actor: cluster-autoscaler
      detail: {message: {contains: toBeDeleted}}
      """
    Then "cluster-autoscaler" has sent "create" of "pods/eviction" at least 2 times within 5m
    And "cluster-autoscaler" has sent "create" of "pods/eviction" no more than 1 time in any 20s, for all objects together, within 5m
