# What came with https://github.com/kubernetes-sigs/karpenter/pull/1727, first in v1.1.1: a daemon
# runs where one of the terms of its node affinity fits.

@karpenter @issue-1727
Feature: A machine has room for the daemons of its NodePool, whatever other NodePools there are

  @karpenter-1727-daemon-terms
  Scenario: A daemon runs where one of two labels is, and a NodePool has neither
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: cpu}
      spec:
        weight: 10
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: gpu}
      spec:
        template:
          metadata: {labels: {example.org/gpu: "true"}}
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: driver}
      spec:
        selector: {matchLabels: {app: driver}}
        template:
          metadata: {labels: {app: driver}}
          spec:
            affinity:
              nodeAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                  nodeSelectorTerms:
                    - matchExpressions: [{key: example.org/gpu, operator: Exists}]
                    - matchExpressions: [{key: example.org/accelerator, operator: Exists}]
            containers: [{name: driver, image: driver, resources: {requests: {cpu: "1"}}}]
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {example.org/gpu: "true"}
        containers: [{name: web, image: web, resources: {requests: {cpu: 1500m}}}]
      """
    Then the pod "web" is Running within 5m
    And this holds within 5m:
      """
      happens: {source: node, verb: running, resource: pods, name: {matches: "driver-.*"}}
      """
    And 5m from now, exactly 1 NodeClaim has been created since the start
