# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/3022, first in v1.13.0.

@karpenter @issue-3022
Feature: A port that a pod has on one machine is free on every other machine

  @karpenter-3022-shared-ports
  Scenario: Four pods want the same host port at once
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: edge, namespace: default}
      spec:
        replicas: 4
        selector: {matchLabels: {app: edge}}
        template:
          metadata: {labels: {app: edge}}
          spec:
            containers:
              - name: edge
                image: edge
                ports: [{containerPort: 80, hostPort: 8080, protocol: TCP}]
                resources: {requests: {cpu: 100m}}
      """
    Then 8s from now, exactly 4 NodeClaims have been created since the start
