# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2743

@karpenter @issue-2743
Feature: A volume that can be used in two zones holds a pod in neither

  @karpenter-2743-volume-in-two-zones
  Scenario: A pod selects the zone that the volume names second
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
      metadata: {name: default}
      spec:
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a, test-zone-b]}
      ---
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: regional}
      provisioner: disk.example.com
      volumeBindingMode: WaitForFirstConsumer
      ---
      apiVersion: storage.k8s.io/v1
      kind: CSIDriver
      metadata: {name: disk.example.com}
      spec: {attachRequired: false}
      ---
      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: data}
      spec:
        capacity: {storage: 1Gi}
        accessModes: [ReadWriteOnce]
        storageClassName: regional
        claimRef: {namespace: default, name: data}
        csi: {driver: disk.example.com, volumeHandle: data}
        nodeAffinity:
          required:
            nodeSelectorTerms:
              - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a]}]
              - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-b]}]
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: data, namespace: default}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: regional
        volumeName: data
        resources: {requests: {storage: 1Gi}}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: db, namespace: default}
      spec:
        nodeSelector: {topology.kubernetes.io/zone: test-zone-b}
        containers: [{name: main, image: main, resources: {requests: {cpu: 3}}, volumeMounts: [{name: data, mountPath: /data}]}]
        volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
      """
    Then the pod "db" is Running within 5m
