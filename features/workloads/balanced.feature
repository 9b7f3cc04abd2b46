# The usual world of a comparison, with another policy: releases since v1.14 know it.

@karpenter
Feature: Karpenter weighs what a disruption costs

  Scenario: A NodePool is Balanced
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 20s after their launch and are Ready 10s later
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
        disruption: {consolidationPolicy: Balanced, consolidateAfter: 0s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux, c-8x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    When a pod "web" that requests 5 CPU is created
    Then the pod "web" is Running within 2m
