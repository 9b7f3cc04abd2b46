# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2300, first in v1.6.0.

@karpenter @issue-2300
Feature: A machine that is replaced by a cheaper one is replaced once

  @karpenter-2300-double-launch
  Scenario: The request for the replacement takes half a minute
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the second call "create nodeclaims.karpenter.sh" of the program "karpenter" is delayed by 30s
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-8x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: large}
      spec:
        containers: [{name: large, image: large, resources: {requests: {cpu: 5}}}]
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: small}
      spec:
        selector: {matchLabels: {app: small}}
        template:
          metadata: {labels: {app: small}}
          spec:
            containers: [{name: small, image: small, resources: {requests: {cpu: 1}}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: nowhere}
      spec:
        nodeSelector: {example.com/is: nowhere}
        containers: [{name: nowhere, image: nowhere}]
      """
    Then the pod "large" is Running within 5m
    And a pod of the Deployment "small" is Running within 5m
    When "Pod/large" is deleted
    Then 10m from now, between 1 and 2 NodeClaims have been created since the start
