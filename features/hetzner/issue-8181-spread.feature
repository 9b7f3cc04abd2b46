# https://github.com/kubernetes/autoscaler/pull/8181, first in 1.33.1 and 1.34.0.

@cluster-autoscaler @hetzner @issue-8181
Feature: Pods that are spread over nodes get as many nodes as they need

  @hetzner-8181-spread-overshoots
  Scenario: Twelve small pods are spread over at least three nodes
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 10 servers of type "cx22" in "fsn1"
    And Cluster Autoscaler
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 12
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            topologySpreadConstraints:
              - {maxSkew: 1, minDomains: 3, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: web}}}
            containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]
      """
    Then at least 3 servers of the group "pool1" are created within 5m
    And 10m from now, between 1 and 3 servers of the group "pool1" have been created since the start
