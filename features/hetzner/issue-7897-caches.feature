# https://github.com/kubernetes/autoscaler/pull/7897, first in 1.33.0.

@cluster-autoscaler @hetzner @issue-7897
Feature: Nothing is decided before it is known what there is

  @hetzner-7897-daemons-unknown
  Scenario: The list of DaemonSets takes two minutes
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And these node groups:
      | name  | min | max | type  | zone |
      | pool1 | 0   | 3   | cpx11 | fsn1 |
      | pool2 | 0   | 3   | cx32  | fsn1 |
    And these objects:
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: agent}
      spec:
        selector: {matchLabels: {app: agent}}
        template:
          metadata: {labels: {app: agent}}
          spec:
            containers: [{name: agent, image: agent, resources: {requests: {cpu: 1}}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers: [{name: web, image: web, resources: {requests: {cpu: 1500m}}}]
      """
    And the first call "list daemonsets" of the program "cluster-autoscaler" is delayed by 2m
    And Cluster Autoscaler
    When the scenario waits for 1m
    Then at least 1 server of the group "pool2" is created within 10m
    And the pod "web" is Running within 5m
