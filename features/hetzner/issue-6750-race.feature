# https://github.com/kubernetes/autoscaler/pull/6750

@cluster-autoscaler @hetzner @issue-6750
Feature: Several servers of one scale-up fail

  The servers of a scale-up are created at the same time, and those that fail are counted.
  Only a build with Go's race detector shows how: nodestorm target build --race.

  @hetzner-6750-counted-at-once
  Scenario: Two servers of one scale-up cannot be had
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cpx11" in "fsn1"
    And each of the first 2 calls "create servers" to the cloud is refused with "resource_unavailable"
    And Cluster Autoscaler
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 1500m}}}]
      """
    Then every pod is Running within 10m
